import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { until } from '../support/wait.ts';
import { isRunning, makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

describe('an engine that does not answer', () => {
  let ws: TestWorkspace;
  let pid: number;
  before(async () => {
    ws = await makeWorkspace();
    await ws.program(['up']);
    pid = ws.daemonPid() ?? 0;
  });
  after(() => ws.close());

  function start(...args: string[]) {
    const child = spawn(process.execPath, [SVC, ...args], { cwd: ws.root, env: ws.env });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      said.out += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said.err += chunk;
    });
    return { child, said, ended: once(child, 'close') as Promise<[number | null, string | null]> };
  }

  test('a waiting client notices that the engine hangs', async () => {
    const client = await ws.connect();
    process.kill(pid, 'SIGSTOP');
    try {
      await assert.rejects(client.call('task.list'), {
        code: 'engine_unreachable',
        message: `the engine of ${ws.root} (pid ${pid}) does not answer`,
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('every command reports a hung engine with its pid and the fix, and a slow answer ends no wait', async () => {
    process.kill(pid, 'SIGSTOP');
    try {
      const commands = [
        ['task', 'list'],
        ['status'],
        ['decision', 'approve', 'd-1'],
        ['down'],
        ['ask', 'list'],
        ['up'],
        ['dash', '--plain'],
      ];
      await Promise.all(
        commands.map(async (args) => {
          const { code, stderr } = await ws.program(args);
          assert.equal(code, 1, args.join(' '));
          assert.match(
            stderr,
            new RegExp(`error: the engine of .* \\(pid ${pid}\\) does not answer`),
            args.join(' '),
          );
          assert.match(stderr, /hint: .*svc down --force/, args.join(' '));
        }),
      );
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    assert.equal((await ws.program(['task', 'list'])).code, 0);
  });

  test('every command ends at the first signal although the engine hangs', async () => {
    process.kill(pid, 'SIGSTOP');
    try {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        const { child, said, ended } = start('task', 'list');
        // The client is connected once the socket is open.
        await until(async () => {
          const { readdirSync, readlinkSync } = await import('node:fs');
          try {
            return (
              readdirSync(`/proc/${child.pid}/fd`).filter((fd) =>
                readlinkSync(`/proc/${child.pid}/fd/${fd}`).startsWith('socket:'),
              ).length > 3
            );
          } catch {
            return false;
          }
        }, 'the connection');
        child.kill(signal);
        await ended;
        assert.match(said.err, /error: the command was stopped/, signal);
      }
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('svc mcp answers initialize although the engine hangs', async () => {
    process.kill(pid, 'SIGSTOP');
    const { child, said, ended } = start('mcp');
    try {
      const params = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      };
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
      await until(() => said.out.includes('\n') || child.exitCode !== null, 'an answer', 30_000);
      assert.match(said.out, /"id":1/, said.err);
    } finally {
      process.kill(pid, 'SIGCONT');
      child.stdin.end();
      await ended;
    }
  });

  test('svc down --force kills a hung engine with its supervisor, and another one starts', async () => {
    const supervisor = ws.supervisorPid() ?? 0;
    await ws.program(['task', 'add', 'kept']);
    process.kill(pid, 'SIGSTOP');
    const killed = await ws.program(['down', '--force']);
    assert.equal(killed.code, 0, killed.stderr);
    assert.match(killed.stdout, new RegExp(`killed \\(pid ${supervisor}, ${pid}\\)`));
    assert.deepEqual([isRunning(pid), isRunning(supervisor)], [false, false]);
    const listed = await ws.program(['task', 'list', '--json']);
    assert.equal((listed.json() as unknown[]).length, 1);
    // A server that answers is stopped as usual.
    const stopped = await ws.program(['down', '--force']);
    assert.match(stopped.stdout, /^stopped/);
  });
});
