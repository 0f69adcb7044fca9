import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { checkHost, type HostAddress, openOnHost, runOnHost } from '../../../../engine/fleet/hosts/index.ts';
import { isRunning } from '../../../support/processes/processes.ts';
import { settled, until } from '../../../support/wait.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const options = { environment: process.env };
/** This machine, by a command that runs the words after it. */
const here = (via: string): HostAddress => ({ host: 'here', via });

/** A machine whose "sh" is this script. */
function makeLiar(script: string): HostAddress {
  const file = join(temporaryFolder('svc-liar-'), 'liar');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return here(file);
}

const hasCode =
  (code: string, message: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof SvcError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };

const readPid = (file: string): Promise<number> =>
  until(() => existsSync(file) && Number(readFileSync(file, 'utf8')), 'the process');

describe('the host', () => {
  it('a name that ssh would take for an option or pass to a shell is refused', () => {
    for (const host of ['box2', 'me@box', 'ssh://me@box:2222', '::1', 'müller.example']) checkHost(host);
    for (const host of [
      '',
      '-oProxyCommand=x',
      'me@-oX',
      '@box',
      'me@',
      'a b',
      'a;b',
      '$(x)',
      'a\nb',
      '\u202ebox',
    ])
      assert.throws(() => checkHost(host), hasCode('usage', /is an invalid host/), host);
  });

  it('an empty command or one of two lines is refused', async () => {
    for (const via of ['', ' ', 'a\nb'])
      await assert.rejects(openOnHost(here(via), ':', options), hasCode('usage', /--via/));
  });
});

describe('a script on the host', () => {
  for (const shell of ['dash', 'bash', 'busybox sh']) {
    const program = shell.split(' ')[0]!;
    const skip = !existsSync(`/bin/${program}`) && !existsSync(`/usr/bin/${program}`) && `no ${program}`;
    it(`${shell} leaves every byte after the marker to the script`, { skip }, async () => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, 'bin'));
      writeFileSync(join(folder, 'bin/sh'), `#!/bin/sh\nexec ${shell}\n`);
      chmodSync(join(folder, 'bin/sh'), 0o755);
      const host = await openOnHost(here(`env PATH=${folder}/bin:/usr/bin:/bin`), 'exec cat', options);
      const sent = Buffer.alloc(300_000, 'echo no\n');
      host.stream.end(sent);
      assert.equal(await text(host.stream), sent.toString());
      assert.deepEqual(await host.ended, { code: 0, signal: null, stderr: '' });
    });
  }

  it('output, errors and exit code arrive, and stdin is empty', async () => {
    const result = await runOnHost(here('env'), 'echo out; echo no >&2; cat; exit 7', options);
    assert.deepEqual(result, { code: 7, stdout: 'out\n', stderr: 'no\n' });
  });

  it('the input arrives whole, also at a script that reads none of it', async () => {
    const bytes = Buffer.alloc(3_000_000, 'x');
    const input = (): Readable => Readable.from([bytes, bytes]);
    const counted = await runOnHost(here('env'), 'wc -c', { ...options, input: input() });
    assert.equal(counted.stdout.trim(), '6000000');
    const ignored = await runOnHost(here('env'), 'echo no; exit 4', { ...options, input: input() });
    assert.deepEqual({ code: ignored.code, stdout: ignored.stdout }, { code: 4, stdout: 'no\n' });
  });

  it('a failing input ends the script, and its error is the result', async () => {
    const input = new Readable({ read: () => undefined });
    const run = runOnHost(here('env'), 'cat >/dev/null; sleep 1000', { ...options, input });
    input.push('x');
    input.destroy(new SvcError('storage_failed', 'cannot read'));
    await assert.rejects(run, hasCode('storage_failed', /cannot read/));
  });

  // `setsid` keeps the remote side alive when the local group is killed, as on another machine.
  for (const [where, relay] of [
    ['on another machine', makeLiar('exec setsid -w sh')],
    ['below the command', here('env')],
  ] as const)
    it(`the script ends with all its processes ${where} once the connection is gone`, async () => {
      const pids = join(temporaryFolder(), 'pid');
      const script = `sh -c 'echo $$ >${pids}; trap "" HUP; sleep 1000; :'`;
      const ended = new AbortController();
      const run = runOnHost(relay, script, { ...options, signal: ended.signal });
      const pid = await readPid(pids);
      ended.abort();
      await assert.rejects(run, hasCode('cancelled', /here/));
      await until(() => !isRunning(pid), 'the end of the remote process');
    });

  it('a command that is a pipeline ends as a whole, even if it ignores SIGTERM', async () => {
    const pids = join(temporaryFolder(), 'pid');
    const via = `f() { (trap '' TERM; touch ${pids}.ready; exec sleep 1000) & echo $! >${pids}; "$@"; }; f`;
    const host = await openOnHost(here(via), 'cat', options);
    await until(() => existsSync(`${pids}.ready`), 'the other process');
    const pid = await readPid(pids);
    host.kill();
    const { signal } = await settled(host.ended);
    assert.equal(signal, 'SIGTERM');
    await until(() => !isRunning(pid), 'the end of the other process');
  });

  it('destroying the stream ends the process', async () => {
    const host = await openOnHost(here('env'), 'exec sleep 1000', options);
    host.stream.destroy(new Error('enough'));
    assert.equal((await settled(host.ended)).signal, 'SIGTERM');
  });

  it('a caller can cancel before the start and later', async () => {
    const early = openOnHost(here('env'), ':', { ...options, signal: AbortSignal.abort() });
    await assert.rejects(early, hasCode('cancelled', /here/));
    const waiting = new AbortController();
    const late = openOnHost(makeLiar('exec sleep 1000'), ':', { ...options, signal: waiting.signal });
    waiting.abort();
    await assert.rejects(late, hasCode('cancelled', /here/));
    const running = new AbortController();
    const host = await openOnHost(here('env'), 'exec sleep 1000', { ...options, signal: running.signal });
    running.abort();
    assert.equal((await settled(host.ended)).signal, 'SIGTERM');
    host.stream.resume();
    await once(host.stream, 'end');
  });

  it('a command that takes too long is ended', async () => {
    const run = runOnHost(here('env'), 'sleep 1000', { ...options, timeoutMs: 200 });
    await assert.rejects(run, hasCode('runner_unreachable', /did not answer within 0.2 s/));
  });
});

describe('a host that does not play along', () => {
  const open = (address: HostAddress, startMs = 30_000) =>
    openOnHost(address, 'cat', { ...options, startMs });

  it('banners and a start file that reads lines are skipped', async () => {
    const host = await open(makeLiar('echo Welcome; printf "no newline"; read -r a; read -r b; exec sh'));
    host.stream.end('data');
    assert.equal(await text(host.stream), 'data');
  });

  it('a host that says nothing, echoes or reads everything is unreachable after a while', async () => {
    for (const script of ['exec sleep 1000', 'exec cat', 'exec cat >/dev/null'])
      await assert.rejects(
        open(makeLiar(script), 300),
        hasCode('runner_unreachable', /started no shell within 0.3 s/),
      );
  });

  it('endless output ends the attempt, in lines or without', async () => {
    for (const script of ['exec yes', 'exec cat /dev/zero'])
      await assert.rejects(open(makeLiar(script)), hasCode('runner_unreachable', /endless text/));
  });

  it('the last lines of a failing command are quoted, safe for a terminal', async () => {
    const failing = open(makeLiar("printf 'a\\nb\\n\\033[31mred\\nno such pod\\n' >&2; exit 1"));
    await assert.rejects(failing, (error: unknown) => {
      assert.ok(error instanceof SvcError);
      assert.equal(error.message, 'cannot reach here: b; \\x1b[31mred; no such pod');
      assert.match(String(error.hint), /^\S+liar sh shows the reason/);
      return true;
    });
    await assert.rejects(
      open(makeLiar('echo Account disabled')),
      hasCode('runner_unreachable', /Account disabled/),
    );
    await assert.rejects(open(makeLiar('kill -9 $$')), hasCode('runner_unreachable', /Killed|SIGKILL|code/));
  });

  it('a terminal in between is named', async () => {
    const script = open(here('script -qec "stty -echo; exec sh" /dev/null; :'));
    await assert.rejects(script, hasCode('runner_unreachable', /through a terminal/));
  });

  it('too much output, and an end without the mark, are refused', async () => {
    await assert.rejects(
      runOnHost(here('env'), 'exec yes', options),
      hasCode('runner_unreachable', /more than 1048576 bytes/),
    );
    const cut = makeLiar("sed -n 's/.*svc-on- \\([0-9a-f]*\\)$/svc-on-\\1/p;/svc-on-/q'; echo cut >&2");
    await assert.rejects(
      runOnHost(cut, 'echo hi', options),
      hasCode('runner_unreachable', /ended before its answer: cut/),
    );
  });
});
