import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readDaemonRecord } from '../../engine/index.ts';
import { attempts, impossible, makeStrict, OVER_HTTP, said } from '../support/agents/strict.ts';
import { openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { requireLocalPath } from '../support/workspaces/local-path.ts';
import { AGENT, SVC } from '../support/workspaces/workspace.ts';

const sayLine = (line: object): string => `#agent: say ${JSON.stringify(line)}`;

/** One program for two uses: the worker, which leaves a conversation behind, and the person who attaches. */
const CLAUDE = `#!/bin/sh
for last; do :; done
case " $* " in *' -- '*) ;; *) [ -t 0 ] || last=$(cat);; esac
kept=$HOME/.claude/projects
case "$last" in *'#agent:'*)
  mkdir -p "$kept"; echo 'what was said' > "$kept/c-1"; exec '${process.execPath}' '${AGENT}' -- "$last";;
esac
echo "given $*; found $(cat "$kept/c-1")"
node http.mjs $(cat .svc/http) > http.out 2>&1
[ ! -e tries.sh ] || sh tries.sh > tries.out 2>&1
trap 'echo "heard an interrupt"' INT
echo 'the agent is here'
until [ "$line" = bye ]; do read -r line; [ "$line" != size ] || stty size; done
exit 5
`;

describe('entering the session of a strict worker', { skip: impossible ?? withTmux.skip }, () => {
  it('entering opens its agent in the sandbox, on the terminal and in its conversation', async (t) => {
    const ws = await makeStrict();
    t.after(ws.close);
    const bin = join(ws.repository.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'claude'), CLAUDE, { mode: 0o755 });
    mkdirSync(join(ws.home, '.claude'));
    for (const name of ['.credentials.json', 'settings.json'])
      writeFileSync(join(ws.home, '.claude', name), '{}');
    Object.assign(ws.env, { PATH: `${bin}:${ws.env.PATH}`, SVC_WEBHOOK_SECRET: 'a secret' });
    const tries = {
      'write the worktree, and renew its login': 'echo x > x.out && echo {} > ~/.claude/.credentials.json',
      'read a file of the home': `cat ${ws.home}/notes.txt`,
      "change the person's settings": 'echo x > ~/.claude/settings.json',
      'see other processes': 'test "$(ls /proc | grep -c "^[0-9]")" -gt 14',
      'write the checkout': `echo x > ${ws.root}/README.md`,
      'write a hook': `echo x > ${ws.root}/.git/hooks/pre-commit`,
      'read the token of the engine': `cat ${ws.root}/.svc/daemon.json`,
      'talk to the engine': `${process.execPath} ${SVC} status`,
      'find a secret': 'test -n "$SVC_WEBHOOK_SECRET"',
      'type for the person': `perl -e 'ioctl(STDIN, 0x5412, my $key = "x") or exit 1'`,
    };
    ws.repository.commit(
      { '.gitignore': '.svc/\n*.out\n', 'tries.sh': attempts(tries), 'http.mjs': OVER_HTTP },
      'tries',
    );
    const client = await ws.connect();
    const waiting = await client.call('task.add', { body: 'waits', agent: 'claude' });
    const done = sayLine({ type: 'result', subtype: 'success', is_error: false, result: 'done' });
    const init = sayLine({ type: 'system', subtype: 'init', session_id: 'c-1', model: 'm' });
    const { task_id } = await client.call('task.add', {
      body: `${init}\n#agent: no-change\n${done}`,
      agent: 'claude',
    });
    const { session: begun } = await client.call('task.run', { id: task_id });
    assert.ok(begun);
    const id = begun.session_id;
    const session = await until(async () => {
      const now = await client.call('session.show', { session: id });
      return now.state === 'ended' && now;
    });
    assert.equal(session.failure, null, JSON.stringify(session.failure));

    // An attacker could have found the token somewhere.
    const { http, token } = readDaemonRecord(join(ws.root, '.svc')) ?? assert.fail();
    const words = `http://127.0.0.1:${http.port}/mcp ${token} ${waiting.task_id}`;
    writeFileSync(join(requireLocalPath(session.worktree), '.svc', 'http'), words);

    const attach = (...words: string[]) =>
      openTerminal({
        command: [process.execPath, SVC, 'worker', 'attach', id, ...words],
        cwd: ws.root,
        env: ws.env,
      });
    const terminal = await attach();
    t.after(terminal.close);
    await terminal.shows('in its sandbox');
    await terminal.shows('the agent is here');
    assert.match(terminal.screen(), /given --resume=c-1; found what was said/);
    const told = readFileSync(join(requireLocalPath(session.worktree), 'tries.out'), 'utf8');
    assert.deepEqual(said(told, 'CAN'), Object.keys(tries).slice(0, 1), told);
    assert.deepEqual(said(told, 'CANNOT'), Object.keys(tries).slice(1), told);
    assert.match(
      readFileSync(join(requireLocalPath(session.worktree), 'http.out'), 'utf8'),
      /chair_only|is for the Chair/,
    );
    terminal.keys('C-c');
    await terminal.shows('heard an interrupt');
    terminal.resize(90, 20);
    terminal.type('size\n');
    await terminal.shows(/^20 90$/m);
    terminal.type('bye\n');
    assert.equal((await terminal.exited()).status, 5);

    const printed = await ws.svc(['worker', 'attach', id, '--print']);
    assert.equal(printed.code, 2);
    assert.match(printed.stderr, /--print --outside/);
    const without = { env: { PATH: ws.repository.folder } };
    const refused = await ws.svc(['worker', 'attach', id], without);
    assert.match(refused.stderr, /bwrap .*is not on PATH[\s\S]*--outside/);
    const outside = await attach('--outside');
    t.after(outside.close);
    await outside.shows(/outside its sandbox[\s\S]*the agent is here/);
    // The program outside may already have typed a letter by itself.
    outside.type('\nbye\n');
    assert.equal((await outside.exited()).status, 5);
    assert.match(
      readFileSync(join(requireLocalPath(session.worktree), 'tries.out'), 'utf8'),
      /^CAN read a file of the home$/m,
    );
  });
});
