import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Step } from '../../fixtures/model/model.ts';
import { missing } from '../support/agents/agents.ts';
import { openDesk } from '../support/agents/matrix.ts';
import { until } from '../support/wait.ts';

const shell = (call: string, command: string): Step => ({
  call,
  arguments: { command, description: 'Commit' },
});

/** Uses the protocol's program: the preset and its own tools. */
const SERVERS = {
  opencode: {
    agent: 'opencode',
    write: (path: string): Step => ({ call: 'write', arguments: { filePath: path, content: 'hello\n' } }),
    shell: (command: string) => shell('bash', command),
  },
  'claude-agent-acp': {
    agent: 'claude',
    write: (path: string): Step => ({ call: 'Write', arguments: { file_path: path, content: 'hello\n' } }),
    shell: (command: string) => shell('Bash', command),
  },
};

describe('a dispatch of a real agent on transport acp', { concurrency: 1 }, () => {
  for (const [program, { agent, write, shell }] of Object.entries(SERVERS)) {
    const skip = missing(program);
    if (skip) console.error(`NOT TESTED: ${skip}`);

    test(`${program} edits, asks before a command, commits with the answer, and reports by our tools`, {
      skip,
    }, async () => {
      const desk = await openDesk({ agent, flags: { 'agents.transport': { [agent]: 'acp' } } });
      try {
        const run = await desk.run('Say hello.', (worktree) => [
          write(join(worktree, 'hello.txt')),
          shell('git add -A && git commit -qm "Say hello"'),
          {
            call: 'verify_report',
            arguments: { criteria: [], tests: [{ command: 'true', passed: true }], summary: 'a greeting' },
          },
          { say: 'It is done.' },
        ]);
        const answered = new Set<number>();
        const over = async (): Promise<boolean> => {
          const { asks: open } = await desk.here.call('ask.list', { status: 'open' });
          for (const { id, options, from_session } of open) {
            assert.equal(from_session, run.id);
            answered.add(id);
            await desk.here.call('ask.answer', { id, answer: options[0] ?? '' });
          }
          return (await run.session()).state === 'ended';
        };
        await until(over, 'its end', 120_000);
        const ended = await run.session();
        assert.deepEqual([ended.failure, desk.failures], [null, []], run.log());
        assert.deepEqual([ended.commits, ended.transport, ended.auth], [1, 'acp', 'gateway']);
        assert.ok(answered.size > 0, 'it asked for permission');
        assert.ok(run.requests().length > 0, "its calls carry the run's key");
        const { state } = await desk.here.call('verify.status', { session: run.id });
        assert.equal(state, 'reported', run.log());
        assert.deepEqual(run.marked(), []);
      } finally {
        await desk.close();
      }
    });
  }
});
