import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../../../../engine/base/clock.ts';
import { askRunningServer } from '../../../../engine/server/index.ts';
import { type PostedMessage, type Slack, showButtons, showText } from '../../../../fixtures/slack/slack.ts';
import { temporaryFolder } from '../../../support/git.ts';
import type { TestServer } from '../../../support/linked-server.ts';
import { type LinkedWorkspace, linkWorkspace } from '../../../support/linked-workspace.ts';
import { type ServerProgram, startServerProgram } from '../../../support/server-program.ts';
import { until } from '../../../support/wait.ts';
import {
  addSlackChannel,
  connectSlack,
  findMessage,
  hasButton,
  startChattySlack,
} from './slack/linked-rig.ts';

const startProgram = (folder: string, slack: Slack, port = 0): Promise<ServerProgram> =>
  startServerProgram(folder, { port, args: ['--slack-api', slack.api] });

/** Where a server is killed: what has happened by then, as Slack sees it. */
const MOMENTS: Readonly<Record<string, (slack: Slack, pressing: Promise<string>) => Promise<unknown>>> = {
  'as the press is told': () => Promise.resolve(),
  'when the press is acknowledged': (_, pressing) => pressing,
  'before the message is edited': (slack) => untilCalled(slack, 'chat.update'),
  'after the message was edited': (slack) => untilCalled(slack, 'chat.update'),
  'before the private answer': (slack) => untilCalled(slack, 'chat.postEphemeral'),
};
const FAULTS: Readonly<Record<string, (slack: Slack) => void>> = {
  'before the message is edited': (slack) => slack.failNext('chat.update', 'never'),
  'after the message was edited': (slack) => slack.failNext('chat.update', 'reset_after'),
  'before the private answer': (slack) => slack.failNext('chat.postEphemeral', 'never'),
};

const countCalls = (slack: Slack, method: string): number =>
  slack.called.filter((call) => call.method === method).length;
async function untilCalled(slack: Slack, method: string): Promise<void> {
  const before = countCalls(slack, method);
  await until(() => countCalls(slack, method) > before, method);
}

it('a server that is killed at any step of a press starts what was approved once, and loses no acknowledged press', async (t) => {
  const slack = await startChattySlack();
  t.after(() => slack.close());
  const folder = temporaryFolder('server-');
  let program = await startProgram(folder, slack);
  t.after(() => program.stop());
  const { port, setupCode } = program;
  const linked: LinkedWorkspace = await linkWorkspace({
    // What the helpers need of a server: where it is and how it is set up.
    start: async () =>
      ({
        url: `http://127.0.0.1:${port}`,
        port,
        folder,
        codes: [setupCode!],
        clock: systemClock,
        close: async () => undefined,
      }) as unknown as TestServer,
  });
  t.after(() => linked.close());
  const { here, ann } = linked;
  await askRunningServer(folder, 'account.plan', { name: 'home', plan: 'team' });
  await connectSlack(ann, slack);
  await linked.setDecide({ ann: ['slack'] });

  let started = 0;
  for (const [name, wait] of Object.entries(MOMENTS)) {
    const asked = await here.ask(`say hello ${name}`);
    const message = await until(() => {
      const found = findMessage(slack, asked.decision_id);
      return found !== undefined && hasButton(found, 'Approve') ? found : null;
    }, `${asked.decision_id} in the channel`);
    FAULTS[name]?.(slack);
    const pressing = slack.press(message, 'Approve', 'U1');
    await wait(slack, pressing);
    await program.kill();
    const delivered = await pressing;
    program = await startProgram(folder, slack, port);
    if (delivered === 'failed') await pressAgain(slack, message);
    const { state } = await until(async () => {
      const { decision } = await here.call('decision.show', { id: asked.decision_id });
      return decision.state === 'pending' ? null : decision;
    }, `an end of what was killed ${name}`);
    assert.equal(state, 'approved', name);
    started += 1;
    assert.equal(await here.call('session.count', {}), started, name);
    await until(
      () => showButtons(message).length === 0 && /Approved by ann by slack; started/.test(showText(message)),
      `the message to be true after it was killed ${name}`,
    );
    await until(() => slack.sockets.open() > 0, 'the bot to be back');
    await addSlackChannel(ann, slack);
  }
});

/** Presses until it is acknowledged or the button is gone, as people do beside a warning. */
async function pressAgain(slack: Slack, message: PostedMessage): Promise<void> {
  await until(
    async () =>
      !hasButton(message, 'Approve') || (await slack.press(message, 'Approve', 'U1')) === 'acknowledged',
    'a press that arrives',
  );
}
