import { z } from 'zod';
import { formatAnswer, type SlackText } from './format-message.ts';
import type { createIdentityCheck } from './identity.ts';
import { BotRefusedError } from './problems.ts';
import type { createStatus } from './status.ts';
import type { WebApi } from './web-api.ts';

/** A name is looked up before an action is recorded, and Slack waits. */
const NAME_PATIENCE_MS = 1500;

const posted = z.looseObject({ ts: z.string() });
const named = z.looseObject({
  user: z.looseObject({
    name: z.string().nullish(),
    profile: z.looseObject({ display_name: z.string().nullish() }).nullish(),
  }),
});

/** Only new messages have links that could be unfurled; `mrkdwn` concerns the fallback text. */
const NO_UNFURLING = { unfurl_links: false, unfurl_media: false, mrkdwn: false };

/** The calls of a bot to Slack's Web API. */
export function createSlackCalls({
  api,
  botToken,
  status,
  identity,
}: {
  api: WebApi;
  botToken: string;
  status: Pick<ReturnType<typeof createStatus>, 'setTokenProblem'>;
  identity: Pick<ReturnType<typeof createIdentityCheck>, 'check'>;
}) {
  async function sendText(method: string, to: Record<string, string>, text: SlackText): Promise<string> {
    const unfurling = method === 'chat.postMessage' ? NO_UNFURLING : {};
    const given = { ...to, ...text, ...unfurling };
    try {
      const { ts } = await api.call(method, { token: botToken, arguments: given, answer: posted });
      status.setTokenProblem(null);
      return ts;
    } catch (error) {
      if (error instanceof BotRefusedError) {
        status.setTokenProblem(error.message);
        if (!error.isTokenTaken) void identity.check();
      }
      throw error;
    }
  }

  async function findName(user: string): Promise<string> {
    try {
      const call = { token: botToken, arguments: { user }, answer: named, patienceMs: NAME_PATIENCE_MS };
      const found = await api.call('users.info', call);
      return found.user.profile?.display_name || found.user.name || user;
    } catch {
      return user;
    }
  }

  async function answerUser(
    { channel, user, isMessage }: { channel: string; user: string; isMessage: boolean },
    text: string,
  ): Promise<void> {
    const formatted = formatAnswer(text);
    if (isMessage) return void (await sendText('chat.postMessage', { channel }, formatted));
    const given = { channel, user, ...formatted };
    await api.call('chat.postEphemeral', { token: botToken, arguments: given, answer: z.unknown() });
  }

  return { sendText, findName, answerUser };
}
