import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { openForwarded } from '../../../../engine/gateway/live-zone/forwarded.ts';
import { storedTextsRig } from './stored-texts-rig.ts';

describe('texts that the gateway has left out of requests', () => {
  const rig = storedTextsRig();
  let forwarded: ReturnType<typeof openForwarded>;
  before(() => {
    forwarded = openForwarded(rig.data, rig.clock.now);
  });
  after(() => {
    forwarded.close();
    rig.close();
  });

  /** Stores the text as the gateway does; returns the id in its marker. */
  function forward(whole: string, holder = 't-1'): string {
    const hash = createHash('sha256').update(whole).digest('hex');
    forwarded.save({
      conversation: 's-1',
      call: '0 c1',
      holder,
      session: 's-1',
      hash,
      bytes: 9,
      token: '"less"',
      text: { whole, hash, kind: 'tests' },
      bytesIn: Buffer.byteLength(whole),
      bytesOut: 6,
    });
    return `c-${hash.slice(0, 16)}`;
  }

  test('a text is returned by the id of its marker, and gets a shorter id from then on', async () => {
    const id = forward('first text\nexit code 3\n');
    const found = await rig.worker('context.retrieve', { id });
    assert.equal(found.text, 'first text\nexit code 3\n');
    assert.ok(id.startsWith(found.id) && found.id.length < id.length);
    assert.equal((await rig.stranger('context.retrieve', { id })).text, found.text);
    await assert.rejects(rig.worker('context.retrieve', { id: id.slice(0, 11) }), { code: 'not_found' });
  });

  test('a text is found and listed for the task of its run', async () => {
    forward('second text about the zeppelin\n');
    forward('third text about the zeppelin\n', 't-3');
    const texts = async (who: typeof rig.worker): Promise<string[]> =>
      (await who('context.search', { query: 'zeppelin' })).chunks.map(({ text }) => text.trim());
    assert.deepEqual(await texts(rig.colleague), ['second text about the zeppelin']);
    assert.deepEqual(await texts(rig.stranger), ['third text about the zeppelin']);
    assert.equal((await rig.person('context.list', {})).length, 3);
  });

  test('a text stays for as long as its conversation uses it', async () => {
    const whole = 'fourth text\n';
    const id = forward(whole);
    assert.equal((await rig.worker('context.retrieve', { id })).text, whole);
    rig.clock.advance(rig.settings.idleMs + 1);
    assert.equal((await rig.worker('context.retrieve', { id })).text, whole);
    forwarded.sweep(rig.settings.idleMs);
    rig.clock.advance(rig.settings.idleMs + 1);
    await assert.rejects(rig.worker('context.retrieve', { id }), { code: 'expired' });
  });

  test('an expired text is stored again when its conversation continues', async () => {
    const whole = 'sixth text\n';
    const id = forward(whole);
    rig.clock.advance(rig.settings.idleMs + 1);
    forwarded.sweep(rig.settings.idleMs);
    await assert.rejects(rig.worker('context.retrieve', { id }), { code: 'not_found' });
    const hash = createHash('sha256').update(whole).digest('hex');
    forwarded.touch('s-1', [{ call: '0 c1', hash, readWhole: () => whole }], 't-1');
    assert.equal((await rig.worker('context.retrieve', { id })).text, whole);
  });

  test('a text is forgotten after seven days, even by a gateway that has it in memory', () => {
    const hash = createHash('sha256').update('seventh text\n').digest('hex');
    forward('seventh text\n');
    assert.equal(forwarded.findKnown('s-1').tokens.get(hash)?.get('0 c1'), '"less"');
    rig.clock.advance(7 * 86_400_000 + 1);
    forwarded.sweep(rig.settings.idleMs);
    assert.equal(forwarded.findKnown('s-1').tokens.get(hash), undefined);
  });

  test('a text counts among the savings of its session', async () => {
    const { total, savings } = await rig.person('context.stats', { session: 's-1' });
    const found = savings.find(({ tool }) => tool === 'gateway');
    assert.deepEqual([found?.calls, found?.bytes_out], [6, 36]);
    assert.ok(total.bytes_in >= (found?.bytes_in ?? Number.NaN));
    const { savings: others } = await rig.person('context.stats', { session: 's-3' });
    assert.ok(others.every(({ tool }) => tool !== 'gateway'));
  });

  test('a database that cannot be read is tried again', async () => {
    const id = forward('fifth text\n');
    const { default: Database } = await import('better-sqlite3');
    const broken = new Database(`${rig.data}/forwarded.db`);
    broken.prepare("UPDATE kept_text SET text = x'00' WHERE hash LIKE ?").run(`${id.slice(2)}%`);
    assert.deepEqual(await rig.person('context.list', {}), []);
    assert.ok(rig.warnings.includes('text omitted by the gateway was not stored'));
    broken.prepare('DELETE FROM kept_text').run();
    broken.close();
    await assert.rejects(rig.worker('context.retrieve', { id }), { code: 'not_found' });
  });
});
