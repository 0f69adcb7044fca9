import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { encodeBase32, makeCode } from '../../../engine/link/decide-code.ts';
import {
  type HostileServer,
  openBesideHostileServer,
  startHostileServer,
} from '../../support/server/hostile-server.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('a compromised server', () => {
  let server: HostileServer;
  let ws: TestWorkspace;
  let here: EngineHere;
  const setKey = (key: string, value: unknown) =>
    here.call('config.set', { key, value: JSON.stringify(value) });
  const readDecision = async (id: string) => (await here.call('decision.show', { id })).decision;
  const countSessions = (): Promise<number> => here.call('session.count', {});

  before(async () => {
    server = await startHostileServer();
    ws = await makeWorkspace();
    here = await engineHere(ws);
    await here.call('link.start', { server: server.url, token: 'svcm_machine' });
    await until(async () => (await here.call('link.status', {})).state === 'connected');
  });
  after(async () => {
    await here.end();
    await server.close();
    await ws.close();
  });

  async function ask(prompt = 'say hello') {
    const { decision_id: id } = await here.ask(prompt);
    return { id, hash: (await readDecision(id)).hash };
  }

  it('the server starts nothing where server.decide is empty', async () => {
    const { id, hash } = await ask();
    const outcome = await server.give({ decision_id: id, hash });
    assert.equal(outcome.outcome, 'not_allowed');
    assert.equal((await readDecision(id)).state, 'pending');
  });

  it('the server starts nothing that was not shown, or for the wrong person, channel, time or verb', async () => {
    await setKey('server.decide', { ann: ['page'], bob: ['slack'] });
    const { id, hash } = await ask();
    const give = async (command: Parameters<HostileServer['give']>[0]): Promise<string> =>
      (await server.give({ decision_id: id, hash, ...command })).outcome;
    assert.equal(await give({ hash: 'f'.repeat(64) }), 'changed');
    assert.equal(await give({ hash: null }), 'changed');
    assert.equal(await give({ channel: 'slack' }), 'not_allowed');
    assert.equal(await give({ person: 'bob' }), 'not_allowed');
    assert.equal(await give({ person: 'Ann' }), 'not_allowed');
    assert.equal(await give({ person: '__proto__' }), 'not_allowed');
    assert.equal(await give({ person: null }), 'not_allowed');
    assert.equal(await give({ channel: 'cli' }), 'not_allowed');
    assert.equal(await give({ at: new Date(Date.now() - 3_601_000).toISOString() }), 'too_old');
    assert.equal(await give({ at: new Date(Date.now() + 3_600_000).toISOString() }), 'too_old');
    assert.equal(await give({ verb: 'run' }), 'unknown_verb');
    for (const unknown of ['d-999', 'd-0', 'd-1e3', '1', '', "d-1' OR 1=1"])
      assert.equal(await give({ decision_id: unknown }), 'unknown_decision', unknown);
    assert.equal((await readDecision(id)).state, 'pending');
    assert.equal(await countSessions(), 0);
  });

  it('the server starts a worker once, however often a command or an equivalent one arrives', async () => {
    const { id, hash } = await ask();
    const first = await server.give({ id: 'k_repeated', decision_id: id, hash });
    assert.equal(first.outcome, 'started');
    assert.deepEqual(await server.give({ id: 'k_repeated', decision_id: id, hash }), first);
    const other = await server.give({ decision_id: id, hash });
    assert.deepEqual([other.outcome, other.session_id], ['already_decided', first.session_id]);
    assert.equal((await server.give({ verb: 'deny', decision_id: id, hash })).outcome, 'already_decided');
    // A known id with other content returns the original command.
    const fresh = await ask();
    assert.deepEqual(await server.give({ id: 'k_repeated', decision_id: fresh.id, hash: fresh.hash }), first);
    assert.equal((await readDecision(fresh.id)).state, 'pending');
    assert.equal(await countSessions(), 1);
  });

  it('the server approves nothing under an allowlist that does not name the person and the channel', async () => {
    await setKey('policy', { mode: 'allowlist', actors: ['ada'] });
    const { id, hash } = await ask();
    assert.equal((await server.give({ decision_id: id, hash })).outcome, 'actor_denied');
    await setKey('policy', { mode: 'allowlist', actors: ['ada', 'ann@page'] });
    assert.equal((await server.give({ verb: 'deny', decision_id: id, hash })).outcome, 'denied');
    await setKey('policy', { mode: 'solo' });
  });

  it('the server approves nothing without a required code, with a wrong one, or with a used one', async () => {
    const { address } = await here.call('link.code', {});
    const uri = new URL(address);
    assert.equal(uri.protocol, 'otpauth:');
    await assert.rejects(here.call('link.code', {}), { code: 'exists' });
    await setKey('server.decide_code', true);
    const secret = decodeBase32(uri.searchParams.get('secret') ?? '');
    assert.equal(encodeBase32(secret), uri.searchParams.get('secret'));
    const code = (): string => makeCode(secret, Math.floor(Date.now() / 30_000));
    const one = await ask();
    const give = async (command: Parameters<HostileServer['give']>[0]): Promise<string> =>
      (await server.give({ decision_id: one.id, hash: one.hash, ...command })).outcome;
    assert.equal(await give({}), 'code_invalid');
    const old = makeCode(secret, Math.floor(Date.now() / 30_000) - 10);
    assert.equal(await give({ code: old }), 'code_invalid');
    const used = code();
    assert.equal(await give({ code: used }), 'started');
    const two = await ask();
    assert.equal(await give({ decision_id: two.id, hash: two.hash, code: used }), 'code_invalid');
    // The used code was the first wrong one; four more in a row close it.
    const wrong = [];
    for (let tries = 0; tries < 4; tries += 1)
      wrong.push(await give({ decision_id: two.id, hash: two.hash, code: 'abcdef' }));
    assert.deepEqual(wrong, ['code_invalid', 'code_invalid', 'code_invalid', 'code_closed']);
    const next = makeCode(secret, Math.floor(Date.now() / 30_000) + 1);
    assert.equal(await give({ decision_id: two.id, hash: two.hash, code: next }), 'code_closed');
    assert.equal(await give({ verb: 'deny', decision_id: two.id, hash: two.hash }), 'denied');
    await setKey('server.decide_code', false);
  });

  it('the server learns the result of a refresh when its lease is invalid', async () => {
    const { outcome, code } = await server.give({ verb: 'refresh' });
    assert.deepEqual([outcome, code], ['refused', 'lease_invalid']);
  });

  it('the server gets no token elsewhere by a redirect, and no memory by an endless answer', async () => {
    const stolen: string[] = [];
    const thief = createServer((request, response) => {
      stolen.push(request.headers.authorization ?? 'asked');
      response.end('{}');
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    const place = `http://127.0.0.1:${(thief.address() as AddressInfo).port}/`;
    let redirected = 0;
    let flooded = 0;
    server.misbehave = (_seen, response) => {
      if (redirected < 3) {
        redirected += 1;
        response.writeHead(307, { location: place }).end();
        return true;
      }
      if (flooded < 2) {
        flooded += 1;
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(Buffer.alloc(10 * 1024 * 1024, ' '));
        return true;
      }
      return false;
    };
    await ask();
    const { id, hash } = await ask();
    await until(() => flooded === 2);
    assert.equal((await server.give({ verb: 'deny', decision_id: id, hash })).outcome, 'denied');
    assert.deepEqual(stolen, []);
    server.misbehave = null;
    await new Promise<void>((resolve) => thief.close(() => resolve()));
  });

  it('the server is not believed when it answers with another kind of data', async () => {
    const answers = [
      '',
      'null',
      '[]',
      '{"commands":{}}',
      '{"commands":[{"verb":"approve"}],"contested":false}',
    ];
    let given = 0;
    server.misbehave = ({ path }, response) => {
      const text = answers[given];
      if (!path.startsWith('/v1/commands?') || text === undefined) return false;
      given += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      return true;
    };
    const { id, hash } = await ask();
    // The open poll ends first.
    const outcome = await server.give({ verb: 'deny', decision_id: id, hash });
    assert.equal(outcome.outcome, 'denied');
    server.misbehave = null;
  });
});

it('a flood of commands is handled one by one, and work continues', async (t) => {
  const { server, here } = await openBesideHostileServer(t);
  let given = 0;
  server.misbehave = ({ path }, response) => {
    if (!path.startsWith('/v1/commands?')) return false;
    const commands = Array.from({ length: 100 }, () => {
      given += 1;
      const at = new Date().toISOString();
      const nothing = { decision_id: null, hash: null, person: null, channel: null, code: null };
      return { id: `k_flooding_${given}`, seq: given, at, verb: 'run', ...nothing };
    });
    const answer = { commands, contested: false, server_time: new Date().toISOString() };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return true;
  };
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await until(() => server.outcomes.size >= 200, 'as many as are taken at once');
  // The next hundred are read, and then it waits for almost two minutes.
  await until(() => server.outcomes.size === 300 || given > 300, 'the last of them');
  await here.ask('work goes on meanwhile');
  assert.equal(given, 300);
});

function decodeBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
