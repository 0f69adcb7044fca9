import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Step } from '../../fixtures/model/model.ts';
import { presetOf } from '../support/agents/agent-run.ts';
import { AGENTS_BIN } from '../support/agents/agents.ts';
import { assertArrived, type Desk, type DeskRun, openDesk } from '../support/agents/matrix.ts';
import {
  ANSWER,
  COMMIT,
  REAL_AGENTS,
  ROUND_AGENTS,
  skipped,
  workerRound,
} from '../support/agents/real-agents.ts';
import { childrenOf } from '../support/processes/processes.ts';
import { until } from '../support/wait.ts';

const HOSTILE = `--help "quotes" 'more' $(touch pwned) \`touch pwned\` \${HOME} \\n %s -- 日本 🎉\nsecond line\n\n- third`;

/** The built-in command, run by a program of the same name that outlives the real one. */
function hanging(name: string, program: string): string {
  mkdirSync(dirname(program), { recursive: true });
  const text = `#!/bin/sh\n'${join(AGENTS_BIN, name)}' "$@"\ntail -f /dev/null\n`;
  writeFileSync(program, text, { mode: 0o755 });
  return (presetOf(name).headless ?? '').replace(/^\S+/, `'${program}'`);
}

/** Leaves a process in a separate session behind, reports it, and waits. */
// The new session creates the mark: an agent may end its command's group before the session exists.
const stuck = (mark: string): string =>
  `setsid sh -c 'touch "${mark}"; exec tail -f /dev/null' >/dev/null 2>&1 </dev/null & until [ -e '${mark}' ]; do sleep 0.1; done; echo begun`;

const LONG = `${'a line of words, and of "others"\n'.repeat(9500)}end`;
const NOTE = 'The port is 8790 now.';

/** Real agent programs of .ci/agents.sh as workers, with the fake model as the gateway. */
describe('a dispatch of a real agent', { concurrency: 2 }, () => {
  for (const [name, agent] of Object.entries(ROUND_AGENTS)) {
    const failing = REAL_AGENTS[name];
    describe(name, { concurrency: 5, skip: skipped(name), timeout: 300_000 }, () => {
      let desk: Desk;
      before(async () => {
        const { home = {}, env = {} } = agent;
        desk = await openDesk({
          agent: name,
          commands: (folder) => ({
            ...(failing === undefined ? {} : { careful: failing.careful }),
            hanging: hanging(name, join(folder, 'hanging', name)),
          }),
          home,
          env,
          isRecorded: true,
        });
      });
      // Two that start at the same time in a new home conflict over its database.
      before(async () => {
        if (name === 'opencode') await (await desk.run('Come first.', () => [{ say: 'Here.' }])).ended();
      });
      after(() => desk?.close());

      const nothingLeft = (run: DeskRun): void => assert.deepEqual(run.marked(), []);

      /** Answers the ask of a run, which holds a lock by then; does nothing if the run ends without one. */
      async function answerAsk(run: DeskRun): Promise<void> {
        const isEnded = async (): Promise<boolean> => (await run.session()).state === 'ended';
        const found = await until(
          async () => (await desk.here.call('ask.list', { session: run.id })).asks[0] ?? isEnded(),
          'its ask',
          120_000,
        );
        if (found === true) return;
        const { locks } = await desk.here.call('lock.status', { path: 'hello.txt' });
        assert.deepEqual(
          locks.map(({ holder }) => holder),
          [run.id],
        );
        await desk.here.call('ask.answer', { id: found.id, answer: ANSWER });
      }

      test('the agent edits and commits with its own tools, locks, asks, sends and reports with ours over its revision of MCP, receives messages, and cannot edit a locked file', async () => {
        await desk.here.join('lady');
        await desk.here.call('lock.acquire', { holder: 'lady', path: 'locked.txt' });
        const run = await desk.run(
          HOSTILE,
          (worktree) => [
            { ...agent.write(join(worktree, 'locked.txt')), isRefused: true },
            agent.write(join(worktree, 'hello.txt')),
            agent.shell(COMMIT),
            ...workerRound(agent, { tells: 'lady' }),
            { say: 'It is done.' },
          ],
          { begun: ({ session_id }) => desk.here.call('msg.send', { to_session: session_id, body: NOTE }) },
        );
        await answerAsk(run);
        const ended = await run.ended();
        assert.deepEqual([ended.failure, desk.failures], [null, []], run.log());
        assert.deepEqual(
          [ended.commits, ended.files, ended.auth, ended.transport, ended.profile],
          [1, 1, 'gateway', 'subprocess', 'lite'],
        );
        assert.ok(ended.agent_session);
        if (!agent.isSilentOnUsage) assert.ok((ended.usage?.input ?? 0) > 0, JSON.stringify(ended.usage));
        const { git } = desk.ws.repository;
        assert.equal(git('log', '-1', '--format=%s', ended.branch ?? ''), 'Say hello');
        assert.equal(git('show', `${ended.branch}:hello.txt`), 'hello');
        const { state } = await desk.here.call('verify.status', { session: run.id });
        assert.equal(state, 'reported');
        const sent = (await desk.here.call('msg.list')).filter((message) => message.from_session === run.id);
        assert.ok(
          sent.some(({ to_session, body }) => to_session === 'lady' && body === `It is ${ANSWER}.`),
          JSON.stringify(sent),
        );
        assert.deepEqual(desk.revisionsOf(run), [agent.revision]);
        assertArrived(run.requests(), HOSTILE);
        const last = JSON.stringify(run.requests().at(-1)?.body);
        assert.match(last, /locked\.txt is locked: lady/);
        // One that takes no text from a hook reads its messages with a tool only.
        const hearsHooks = presetOf(name).hooks?.moments['post-tool'] !== undefined;
        assert.equal(last.split(NOTE).length - 1, hearsHooks ? 1 : 0, last);
        const { text } = await desk.here.call('session.log', { session: run.id });
        assert.match(text, /It is done\./);
        nothingLeft(run);
      });

      if (failing === undefined) return;
      test('the agent receives a prompt of 300 KB byte for byte', async () => {
        const prompt = `A long one.\n${LONG}`;
        assert.ok(Buffer.byteLength(prompt) > 300_000);
        const run = await desk.run(prompt, () => [{ say: 'Read.' }]);
        assert.equal((await run.ended()).failure, null, run.log().slice(0, 4000));
        assertArrived(run.requests(), prompt);
        nothingLeft(run);
      });

      for (const [status, code] of Object.entries(failing.codes))
        test(`the agent fails with ${code} when its model answers ${status}`, async () => {
          const fail = { status: Number(status), retryAfterSec: 1 };
          const run = await desk.run(`Case ${status}.`, () => [{ fail }]);
          // A limit with an end time is a pause.
          const { state, failure, pause } = await run.settled();
          assert.equal(failure?.code ?? pause?.code, code, run.log());
          nothingLeft(run);
          if (state !== 'ended') await run.cancel();
        });

      test('the agent fails with permission_denied when its own permissions refuse a tool', async () => {
        const outside = join(desk.ws.repository.folder, 'outside.txt');
        const run = await desk.run(
          'Be careful.',
          () => [{ ...agent.write(outside), isRefused: true }, { say: 'I could not.' }],
          { agent: 'careful' },
        );
        const ended = await run.ended();
        assert.equal(existsSync(outside), false);
        assert.equal(
          ended.failure?.code,
          failing.isMuteWhenDenied ? undefined : 'permission_denied',
          run.log(),
        );
        nothingLeft(run);
      });

      test('the time limit stops the agent and everything that it has started', async () => {
        const mark = join(desk.ws.repository.folder, 'begun-1');
        const run = await desk.run('Time is short.', () => [agent.shell(stuck(mark)), { hang: true }], {
          timeoutSec: 45,
        });
        await until(() => existsSync(mark), 'its tool', 120_000);
        const isLeftBehind = () => run.marked().some(({ command }) => command.startsWith('tail'));
        await until(isLeftBehind, 'the process that it leaves behind');
        const ended = await run.ended();
        assert.equal(ended.failure?.code, 'timeout', run.log());
        nothingLeft(run);
      });

      test('a killed agent has failed with killed, and nothing outlives it', async () => {
        const mark = join(desk.ws.repository.folder, 'begun-2');
        const run = await desk.run('Be killed.', () => [agent.shell(stuck(mark)), { hang: true }]);
        await until(() => existsSync(mark), 'its tool', 120_000);
        const { pid } = await run.session();
        // The wrapper's only child is the agent.
        for (const child of childrenOf(pid ?? 0)) process.kill(child.pid, 'SIGKILL');
        const ended = await run.ended();
        assert.equal(ended.failure?.code, 'killed', run.log());
        nothingLeft(run);
      });

      test('an agent that does not exit after its last word is sealed anyway', async () => {
        const run = await desk.run('Never exit.', () => [{ say: 'Said.' }], { agent: 'hanging' });
        assert.equal((await run.ended()).failure, null, run.log());
        nothingLeft(run);
      });

      test('the agent waits for the end of a limit and resumes once, in its conversation', async () => {
        const steps: Step[] = [agent.shell('touch half.txt')];
        // Some report when to retry; for the others the gateway knows the time.
        const fail = { status: 429, retryAfterSec: 1 };
        const run = await desk.run('Be limited.', () => [...steps, { fail }], {
          begun: async ({ session_id }) => desk.limit({ id: session_id }, Date.now() + 1000),
          again: { when: 'You were interrupted', steps: [...steps, agent.shell(COMMIT), { say: 'Done.' }] },
        });
        const ended = await run.ended();
        assert.deepEqual([ended.failure, ended.runs, ended.commits], [null, 2, 1], run.log());
        assertArrived(run.requests().slice(-1), 'Be limited.');
        assertArrived(run.requests().slice(-1), 'You were interrupted');
        nothingLeft(run);
      });
    });
  }
});
