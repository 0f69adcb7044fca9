import assert from 'node:assert/strict';
import { SCHEMES, signRequest } from '../../../engine/core/http/signature.ts';
import { REPLAY_MS } from '../../../engine/receiver/replay.ts';
import { makeRig, task } from '../../engine/receiver/rig.ts';
import { NOW } from '../../support/clock.ts';
import { hostile } from '../../support/hostile.ts';

hostile(
  {
    attacker: 'text',
    tries: 'sign a pre-approved task or a decision with the chat’s secret',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    const rig = makeRig();
    t.after(rig.close);
    const { receive } = rig.receiver.open({
      task: ['of the task'],
      chat: ['of the chat'],
      decisions: ['theirs'],
    });
    const at = String(Math.floor(rig.clock.now() / 1000));
    const send = async (path: string, secret: string, fields: object) => {
      const body = JSON.stringify({ nonce: Math.random(), ...fields });
      const headers = {
        'x-svc-timestamp': at,
        'x-svc-signature': signRequest(SCHEMES.svc, secret, at, body),
        'x-chat-request-timestamp': at,
        'x-chat-signature': signRequest(SCHEMES.chat, secret, at, body),
        'x-hub-signature-256': signRequest(SCHEMES.codehost, secret, '', body),
      };
      return (await receive({ method: 'POST', path, headers, body: Buffer.from(body), remote: '' })).status;
    };
    const wish = { agent: 'scripted', prompt: 'x', dispatch: true };
    assert.equal(await send('/task', 'of the task', wish), 201);
    for (const secret of ['of the chat', 'theirs', ''])
      assert.equal(await send('/task', secret, { ...wish, approve: true }), 401, secret);
    for (const secret of ['of the chat', 'of the task'])
      for (const verb of ['approve', 'deny'])
        assert.equal(await send(`/decisions/d-1/${verb}`, secret, {}), 401);
    for (const secret of ['of the chat', 'of the task'])
      assert.equal(await send('/codehost', secret, {}), 404);
    assert.equal(rig.tasks.list({}).length, 1);
    assert.equal(rig.decisions.get('d-1').state, 'pending');
  },
);

hostile(
  {
    attacker: 'text',
    tries: 'replay a signed request after clock changes, also over a restart',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    const rig = makeRig();
    t.after(rig.close);
    const ask = task(rig, { dispatch: true, approve: true });
    assert.equal((await rig.ask(ask)).status, 201);
    const others = async () => {
      for (let count = 0; count < 300; count++) await rig.ask(task(rig));
    };
    const made = () => rig.sessions.list({}).length;
    for (const [jump, restarts] of [
      [REPLAY_MS + 1000, false],
      [86_400_000, true],
      [-REPLAY_MS, true],
      [-200_000, false],
    ] as const) {
      rig.clock.set(NOW + jump);
      if (restarts) rig.reopen();
      await others();
      rig.clock.set(NOW);
      if (restarts) rig.reopen();
      assert.notEqual((await rig.ask(ask)).status, 201, `${jump} ms, ${restarts}`);
      assert.equal(made(), 1);
    }
    // Much later, with the clock set back to the very moment.
    rig.clock.advance(3 * REPLAY_MS);
    await others();
    rig.clock.set(NOW);
    assert.notEqual((await rig.ask(ask)).status, 201);
    assert.equal(made(), 1);
  },
);
