import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../../engine/core/base/clock.ts';
import { askRunningServer } from '../../../../engine/linked-server/index.ts';
import type { Browser, TestServer } from '../../../support/server/linked-server.ts';
import { linkWorkspace } from '../../../support/server/linked-workspace.ts';
import { startServerProgram } from '../../../support/server/server-program.ts';
import { until } from '../../../support/wait.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

/** A chat in which a button is pressed while the server is killed. */
export interface KilledChat<Message> {
  channel: 'slack' | 'telegram';
  /** Arguments of `svc server serve`. */
  args: string[];
  /** Sets up the bot, and connects ann and the chat that shows decisions. */
  connect(ann: Browser): Promise<void>;
  /** Uses a new chat for decisions: more than five messages within a minute are merged into one. */
  renewPlace(ann: Browser): Promise<void>;
  /** Returns the messages of a decision with buttons: several if it was sent twice. */
  find(decision: string): Message[];
  /** Presses Approve; resolves once it is known whether the press arrived. */
  press(message: Message): Promise<'acknowledged' | 'failed'>;
  textOf(message: Message): string;
  hasButtons(message: Message): boolean;
  moments: Readonly<Record<string, KillMoment>>;
}

/** A step at which the server is killed, described by what the chat service has seen. */
export interface KillMoment {
  /** True if it is before the press, or before there is a message to press. */
  prepare?(): void;
  /** The server is killed before a message shows, which is then pressed. */
  isBeforePress?: boolean;
  /** Resolves when the server must be killed. */
  wait(pressing: Promise<unknown>): Promise<unknown>;
}

/** Kills a server at every step of a button press, and checks after each what has started and what is shown. */
export async function killAtEveryStep<Message>(t: TestContext, chat: KilledChat<Message>): Promise<void> {
  const folder = temporaryFolder('server-');
  const start = (port = 0) => startServerProgram(folder, { port, args: chat.args });
  let program = await start();
  t.after(() => program.stop());
  const { port, setupCode } = program;
  const linked = await linkWorkspace({
    // The parts of a server that the helpers need: its address and setup.
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
  await chat.connect(ann);
  await linked.setDecide({ ann: [chat.channel] });

  const restart = async () => {
    await program.kill();
    program = await start(port);
  };
  let started = 0;
  for (const [name, { prepare, isBeforePress = false, wait }] of Object.entries(chat.moments)) {
    if (isBeforePress) prepare?.();
    const asking = here.ask(`say hello ${name}`);
    if (isBeforePress) {
      await wait(asking);
      await restart();
    }
    const { decision_id: decision } = await asking;
    const [message] = await until(() => {
      const found = chat.find(decision).filter(chat.hasButtons);
      return found.length > 0 ? found : null;
    }, `${decision} in the chat`);
    if (!isBeforePress) prepare?.();
    const pressing = chat.press(message!);
    if (!isBeforePress) {
      await wait(pressing);
      await restart();
    }
    if ((await pressing) === 'failed')
      // Presses again, as people do when they see a warning.
      await until(
        async () => !chat.hasButtons(message!) || (await chat.press(message!)) === 'acknowledged',
        'a press that arrives',
      );
    const { state } = await until(async () => {
      const found = (await here.call('decision.show', { id: decision })).decision;
      return found.state === 'pending' ? null : found;
    }, `an end of what was killed ${name}`);
    assert.equal(state, 'approved', name);
    started += 1;
    assert.equal(await here.call('session.count', {}), started, name);
    const isTrue = new RegExp(`Approved by ann in ${chat.channel}\\. s-\\d+ has started`, 'i');
    await until(
      () => chat.find(decision).every((each) => !chat.hasButtons(each) && isTrue.test(chat.textOf(each))),
      `the messages to be true after it was killed ${name}`,
    );
    await chat.renewPlace(ann);
  }
}
