import {
  addChannel,
  type PostedMessage,
  SLACK_APP,
  type Slack,
  startSlack,
} from '../../../../../fixtures/slack/slack.ts';
import type { Browser, startTestServer } from '../../../../support/server/linked-server.ts';
import { type LinkedWorkspace, linkWorkspace } from '../../../../support/server/linked-workspace.ts';
import { until } from '../../../../support/wait.ts';

/** A linked workspace whose decisions appear in the channel `C1` of a scripted Slack, where `U1` acts for ann. */
export interface LinkedSlack {
  linked: LinkedWorkspace;
  slack: Slack;
  /** Returns the message about a decision once it has its buttons. */
  shown(decision: string): Promise<PostedMessage>;
  close(): Promise<void>;
}

/** Sets up the bot and connects a person and a channel through the pages and Slack. */
export async function connectSlack(ann: Browser, slack: Slack): Promise<void> {
  const set = await ann.post('/operator/bots/slack', {
    bot_token: SLACK_APP.botToken,
    app_token: slack.isSocketMode ? SLACK_APP.appToken : '',
    signing_secret: slack.isSocketMode ? '' : SLACK_APP.signingSecret,
    team_id: SLACK_APP.teamId,
    app_id: SLACK_APP.appId,
  });
  if (set.status >= 400) throw new Error(set.text);
  await until(async () => /works/.test((await ann.get('/operator/bots/slack')).text), 'the bot');
  await sendCode(ann, slack, { path: 'connect', channel: 'D1', answer: { user: 'U1' } });
  await addSlackChannel(ann, slack);
}

async function sendCode(
  ann: Browser,
  slack: Slack,
  { path, channel, answer }: { path: string; channel: string; answer: Record<string, string> },
): Promise<void> {
  const page = await ann.post(`/app/chats/${path}/slack/code`);
  const code = /[A-Z]{4}-[A-Z]{4}/.exec(page.text)?.[0] ?? '';
  if ((await slack.say(channel, 'U1', code)) !== 'acknowledged') throw new Error('the bot hears nothing');
  const answered = await ann.post(`/app/chats/${path}/slack`, { ...answer, answer: 'yes' });
  if (answered.status !== 303) throw new Error(answered.text);
}

const findChannelPath = async (ann: Browser): Promise<string | undefined> =>
  /\/app\/chats\/channel\/[\w-]+/.exec((await ann.get('/app/chats')).text)?.[0];

/** Shows decisions in the channel as in a new one: more than five messages within a minute are merged into one. */
export async function addSlackChannel(ann: Browser, slack: Slack): Promise<void> {
  const before = await findChannelPath(ann);
  if (before !== undefined) await ann.post(`${before}/remove`);
  await sendCode(ann, slack, { path: 'channels', channel: 'C1', answer: { channel: 'C1' } });
  await ann.post((await findChannelPath(ann)) ?? '', { 'events[]': 'needs_approval' });
}

export async function startChattySlack(isSocketMode = true): Promise<Slack> {
  const slack = await startSlack({ isSocketMode });
  addChannel(slack, { id: 'C1', name: 'approvals', members: ['U1', 'U2'] });
  addChannel(slack, { id: 'D1', name: 'directmessage', members: ['U1'] });
  return slack;
}

/** Returns what a channel shows of a decision. */
export const findMessage = (slack: Slack, decision: string): PostedMessage | undefined =>
  slack.inChannel('C1').find(({ text }) => new RegExp(`\\b${decision} about`).test(text));

export const hasButton = ({ blocks }: PostedMessage, label: string): boolean =>
  blocks.some(({ elements = [] }) => elements.some(({ text }) => text?.text === label));

export async function linkWithSlack(
  start: typeof startTestServer,
  {
    isSocketMode = true,
    options = {},
  }: { isSocketMode?: boolean; options?: Parameters<typeof startTestServer>[0] } = {},
): Promise<LinkedSlack> {
  const slack = await startChattySlack(isSocketMode);
  const linked = await linkWorkspace({
    start: (given) => start({ ...given, ...options, slackApi: slack.api }),
  });
  const { server, ann } = linked;
  if (!isSocketMode) slack.requestUrl = `${server.url}/chats/slack/events`;
  const [home] = await server.parts.people.listAccounts();
  await server.parts.plans.assign(home!, 'team', 'a test');
  await connectSlack(ann, slack);
  await linked.setDecide({ ann: ['slack'] });
  return {
    linked,
    slack,
    shown: (decision) =>
      until(() => {
        const message = findMessage(slack, decision);
        return message !== undefined && hasButton(message, 'Deny') ? message : null;
      }, `${decision} in the channel`),
    async close() {
      await linked.close();
      await slack.close();
    },
  };
}
