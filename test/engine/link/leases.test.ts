import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it, type TestContext } from 'node:test';
import { LEASE_MS, type LeaseClaims, signLease } from '../../../engine/core/link-protocol/lease.ts';
import { deriveLeaseKey } from '../../../engine/core/link-protocol/root-key.ts';
import type { FetchedLease } from '../../../engine/link/held-lease.ts';
import { type AccountLeases, createLeases, type LeasesDeps } from '../../../engine/link/leases.ts';
import { type FakeClock, fakeClock } from '../../support/clock.ts';
import { until } from '../../support/wait.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const HOUR = 3600_000;
const SECRET = 's'.repeat(40);
const { privateKey, publicKey } = deriveLeaseKey(SECRET);
const LINK = { server: 'https://svc.example', workspaceId: 'w_1', leaseKey: publicKey };
const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the lease of a workspace', () => {
  let file: string;
  /** The workspace's clock, which may be wrong. */
  let clock: FakeClock;
  /** The server's clock. */
  let serverClock: FakeClock;
  let answer: (nonce: string) => Promise<FetchedLease>;
  let open: AccountLeases[];
  beforeEach(() => {
    file = join(temporaryFolder(), 'lease.json');
    clock = fakeClock();
    serverClock = fakeClock();
    answer = async (nonce) => ({ lease: await issue(nonce) });
    open = [];
  });
  afterEach(async () => {
    for (const leases of open) await leases.close();
  });

  const claimsOf = (nonce: string): LeaseClaims => {
    const iat = Math.floor(serverClock.now() / 1000);
    return {
      iss: LINK.server,
      sub: LINK.workspaceId,
      jti: 'j',
      iat,
      exp: iat + LEASE_MS / 1000,
      nonce,
      account: 'home',
      plan: 'professional',
      quotas: { projects: 2, workspaces: null, people: 5 },
      capabilities: ['hosted_webhook'],
    };
  };
  const issue = (nonce: string, differing: Partial<LeaseClaims> = {}, key = privateKey): Promise<string> =>
    signLease({ ...claimsOf(nonce), ...differing }, key);
  async function openLeases(deps: Partial<LeasesDeps> = {}): Promise<AccountLeases> {
    const leases = createLeases({
      file,
      clock,
      secret: undefined,
      link: () => LINK,
      fetchLease: (nonce) => answer(nonce),
      log: QUIET,
      ...deps,
    });
    open.push(leases);
    await leases.read();
    leases.start();
    return leases;
  }
  const passes = (ms: number): void => {
    clock.advance(ms);
    serverClock.advance(ms);
  };

  it('the lease is valid for three days, and is kept over a restart', async () => {
    const leases = await openLeases();
    const view = await leases.refresh();
    assert.deepEqual([view.state, view.from, view.entitlements?.plan], ['valid', 'server', 'professional']);
    await leases.close();
    answer = () => Promise.reject(new Error('nobody answers'));
    const again = await openLeases();
    passes(71 * HOUR);
    assert.equal(again.view().state, 'valid');
    passes(HOUR);
    assert.equal(again.view().state, 'expired');
    assert.deepEqual(again.view().entitlements?.quotas.projects, 2, 'the known entitlements are kept');
  });

  it('the lease is not revived by a clock that is set back, and a wrong clock locks out no one who reaches the server', async () => {
    clock.advance(72 * HOUR);
    const leases = await openLeases();
    assert.equal((await leases.refresh()).state, 'valid', 'the local clock is three days ahead');
    assert.equal(leases.view().clockOffsetMs, -72 * HOUR);
    passes(72 * HOUR);
    assert.equal(leases.view().state, 'expired');
    clock.set(clock.now() - 60 * HOUR);
    assert.equal(leases.view().state, 'expired');
    await leases.close();
    answer = () => Promise.reject(new Error('nobody answers'));
    const again = await openLeases();
    await again.refresh();
    assert.equal(again.view().state, 'expired', 'a restart does not renew it');
    answer = async (nonce) => ({ lease: await issue(nonce) });
    assert.equal((await again.refresh()).state, 'valid');
  });

  it('the lease is valid again as soon as a server whose clock was ahead has corrected it', async () => {
    serverClock.advance(3000 * 24 * HOUR);
    const leases = await openLeases();
    assert.equal((await leases.refresh()).state, 'valid');
    serverClock.set(clock.now());
    assert.equal((await leases.refresh()).state, 'valid');
    passes(71 * HOUR);
    assert.equal(leases.view().state, 'valid');
    await leases.close();
    answer = () => Promise.reject(new Error('nobody answers'));
    const again = await openLeases();
    assert.equal(again.view().state, 'valid', 'valid after a restart too');
    passes(HOUR);
    assert.equal(again.view().state, 'expired');
  });

  it('the lease is requested again at the first check after a clock was set forward, and once without an answer', async (t) => {
    let asked = 0;
    answer = async (nonce) => {
      asked += 1;
      return { lease: await issue(nonce) };
    };
    const leases = await openLeases();
    await leases.refresh();
    const before = asked;
    clock.set(clock.now() + 72 * HOUR);
    leases.view();
    await until(() => leases.view().state === 'valid');
    assert.equal(asked, before + 1);
    const questions = countQuestions(t);
    clock.set(clock.now() + 72 * HOUR);
    leases.view();
    await questions.ask();
    for (let look = 0; look < 10; look += 1) assert.equal(leases.view().state, 'expired');
    assert.equal(questions.asked(), 1);
  });

  /** Counts questions to an unreachable server; a waiting test receives each question. */
  function countQuestions(t: TestContext): { ask(): Promise<void>; asked(): number } {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let asked = 0;
    let next = Promise.withResolvers<void>();
    answer = () => {
      asked += 1;
      next.resolve();
      return Promise.reject(new Error('nobody answers'));
    };
    return {
      asked: () => asked,
      async ask() {
        await next.promise;
        next = Promise.withResolvers();
        // Lets the effects of the answer happen.
        await new Promise(setImmediate);
      },
    };
  }

  it('the lease is requested again after a pause, also when the clock was set back', async (t) => {
    const questions = countQuestions(t);
    await openLeases();
    t.mock.timers.tick(1000);
    await questions.ask();
    clock.set(clock.now() - 3000 * 24 * HOUR);
    // No timer sleeps longer than this step.
    for (let minutes = 0; minutes < 60 && questions.asked() === 1; minutes += 1) {
      clock.advance(60_000);
      t.mock.timers.tick(60_000);
    }
    assert.equal(questions.asked(), 2);
  });

  it('the lease is dropped even where its file cannot be removed', async () => {
    const leases = await openLeases();
    await leases.refresh();
    rmSync(file);
    mkdirSync(file);
    leases.drop('revoked');
    assert.equal(leases.view().state, 'revoked');
  });

  it('the lease must be from the server, for this workspace and this request', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forge = (header: object, nonce: string, sign: (text: string) => string): string => {
      const text = `${encode({ typ: 'svc-lease+jwt', ...header })}.${encode({ ...claimsOf(nonce), aud: 'svc-workspace' })}`;
      return `${text}.${sign(text)}`;
    };
    const earlier = await issue('an-earlier-question');
    const attacks: Record<string, (nonce: string) => string | Promise<string>> = {
      none: (nonce) => forge({ alg: 'none' }, nonce, () => ''),
      'HS256 over the public key': (nonce) =>
        forge({ alg: 'HS256' }, nonce, (text) =>
          createHmac('sha256', Buffer.from(publicKey, 'base64url')).update(text).digest('base64url'),
        ),
      'a key of its own in the header': async (nonce) => {
        const [, body, signature] = (await issue(nonce, {}, other)).split('.');
        return `${encode({ alg: 'EdDSA', typ: 'svc-lease+jwt', jwk: other.export({ format: 'jwk' }) })}.${body}.${signature}`;
      },
      'another key': (nonce) => issue(nonce, {}, other),
      'another workspace': (nonce) => issue(nonce, { sub: 'w_2' }),
      'another server': (nonce) => issue(nonce, { iss: 'https://evil.example' }),
      replayed: () => earlier,
      'for ever': (nonce) => issue(nonce, { exp: 4_000_000_000 }),
      'ends before it begins': (nonce) => issue(nonce, { exp: 1 }),
      'longer than three days': (nonce) =>
        issue(nonce, { exp: Math.floor(serverClock.now() / 1000) + LEASE_MS / 1000 + 1 }),
      'of a time that no date holds': (nonce) =>
        issue(nonce, { iat: 9_000_000_000_000, exp: 9_000_000_003_600 }),
      'of a plan that there is not': (nonce) => issue(nonce, { plan: 'gold' as 'team' }),
      'of less than nothing': (nonce) =>
        issue(nonce, { quotas: { projects: -1, workspaces: null, people: 5 } }),
      'cut off': async (nonce) => (await issue(nonce)).slice(0, -4),
      'no token': () => 'hello',
    };
    for (const [name, make] of Object.entries(attacks)) {
      answer = async (nonce) => ({ lease: await make(nonce) });
      const leases = await openLeases();
      const { state, problem } = await leases.refresh();
      assert.equal(state, 'invalid', name);
      assert.match(problem ?? '', /^lease rejected: /, name);
      await leases.close();
    }
    answer = async (nonce) => ({ lease: await issue(nonce) });
    const leases = await openLeases();
    await leases.refresh();
    passes(50 * HOUR);
    answer = async () => ({ lease: earlier });
    const { state, leftMs, clockOffsetMs } = await leases.refresh();
    assert.deepEqual(
      [state, leftMs, clockOffsetMs],
      ['valid', 22 * HOUR, 0],
      'a replayed answer changes nothing',
    );
  });

  it('the lease of a workspace that was relinked or unlinked during the request is refused', async () => {
    for (const next of [{ ...LINK, server: 'https://other.example' }, null]) {
      let link: typeof LINK | null = LINK;
      const { promise: asked, resolve: arrive } = Promise.withResolvers<void>();
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      answer = async (nonce) => {
        arrive();
        await gate;
        return { lease: await issue(nonce) };
      };
      const leases = await openLeases({ link: () => link });
      await asked;
      link = next;
      leases.drop('none');
      answer = () => Promise.reject(new Error('nobody answers'));
      open();
      await leases.refresh();
      assert.deepEqual([leases.view().state, leases.view().entitlements], ['none', null]);
      assert.throws(() => readFileSync(file), { code: 'ENOENT' });
    }
  });

  it('the lease is invalid when its file was tampered with', async () => {
    const leases = await openLeases();
    await leases.refresh();
    await leases.close();
    const kept = JSON.parse(readFileSync(file, 'utf8')) as { lease: string };
    const [head, , signature] = kept.lease.split('.');
    const body = Buffer.from(JSON.stringify({ ...claimsOf('x'), plan: 'team' })).toString('base64url');
    answer = () => Promise.reject(new Error('nobody answers'));
    for (const text of [JSON.stringify({ ...kept, lease: `${head}.${body}.${signature}` }), '{', '']) {
      writeFileSync(file, text, { mode: 0o600 });
      const again = await openLeases();
      assert.equal((await again.refresh()).state, 'invalid', text);
    }
  });

  it('the lease is dropped immediately when the server revokes the link', async () => {
    const leases = await openLeases();
    await leases.refresh();
    answer = async () => ({ isRevoked: true });
    const { state, entitlements } = await leases.refresh();
    assert.deepEqual([state, entitlements], ['revoked', null]);
    assert.throws(() => readFileSync(file), { code: 'ENOENT' });
  });

  it('the lease needs no server where the workspace has the root secret', async () => {
    const unlinked = { link: () => null };
    assert.equal((await openLeases({ ...unlinked })).view().state, 'none');
    assert.deepEqual(
      await openLeases({ ...unlinked, secret: SECRET }).then((leases) => [
        leases.view().state,
        leases.view().from,
      ]),
      ['valid', 'secret'],
    );
    const short = (await openLeases({ ...unlinked, secret: 'short' })).view();
    assert.equal(short.state, 'none');
    assert.match(short.problem ?? '', /fewer than 32 bytes/);
    const wrong = { ...LINK, leaseKey: 'AAAA' };
    const verified = await openLeases({ link: () => wrong, secret: SECRET });
    assert.equal((await verified.refresh()).from, 'server', 'the secret verifies it');
  });
});
