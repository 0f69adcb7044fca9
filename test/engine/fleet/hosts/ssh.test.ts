import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { openOnHost, runOnHost } from '../../../../engine/fleet/hosts/index.ts';
import { NO_SSHD, startTestHost, type TestHost } from '../../../support/sshd.ts';

describe('a machine behind ssh', { skip: NO_SSHD }, () => {
  let host: TestHost;
  before(async () => {
    host = await startTestHost();
  });
  after(() => host.stop());

  const run = (name: string) =>
    runOnHost({ host: name, via: null }, 'echo hi', { environment: host.environment });

  const failsWith = (name: string, message: RegExp): Promise<void> =>
    assert.rejects(run(name), (error: unknown) => {
      assert.ok(error instanceof SvcError, String(error));
      assert.equal(error.code, 'runner_unreachable');
      assert.match(error.message, message);
      assert.equal(error.hint, `ssh ${name} shows the reason, and lets you answer`);
      return true;
    });

  it("the system's ssh runs sh there, asks nothing and lends nothing", async () => {
    assert.equal((await run('box')).stdout, 'hi\n');
    const words = readFileSync(join(host.folder, 'ssh-words'), 'utf8').trim().split('\n');
    assert.deepEqual([words[0], ...words.slice(-2)], ['-T', 'box', 'sh']);
    for (const option of [
      'BatchMode=yes',
      'ServerAliveInterval=5',
      'ServerAliveCountMax=3',
      'ForwardAgent=no',
    ])
      assert.ok(words.includes(option), option);
  });

  it('a stream of both directions passes every byte', async () => {
    const { stream, ended } = await openOnHost(host.address, 'exec cat', { environment: process.env });
    const sent = Buffer.alloc(2_000_000, 'some bytes\r\n~.\n\0');
    stream.end(sent);
    const received = Buffer.from(await text(stream));
    assert.ok(received.equals(sent));
    assert.equal((await ended).code, 0);
  });

  it('an unknown host key is refused in the words of ssh', () =>
    failsWith('stranger', /Host key verification failed/));

  it('a machine that asks for a password is refused in the words of ssh', () =>
    failsWith('locked', /Permission denied \(publickey,password/));

  it('a machine without a server is refused in the words of ssh', () =>
    failsWith('closed', /port 1: Connection refused/));

  it('an unknown machine is refused in the words of ssh', () =>
    failsWith('nowhere', /Could not resolve hostname nowhere.invalid/));

  it('a missing ssh is named', async () => {
    const environment = { ...process.env, PATH: '/nonexistent' };
    await assert.rejects(openOnHost({ host: 'box', via: null }, ':', { environment }), {
      code: 'tool_missing',
      message: /ssh was not found/,
    });
  });
});
