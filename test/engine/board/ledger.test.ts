import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { parseLedger } from '../../../engine/board/ledger/parse.ts';
import type { Caller } from '../../../engine/core/api/operation.ts';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import type { LoggedEvent } from '../../../engine/index.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';
import { BY, type HoldingRig, holdingRig, refusal } from './holding.ts';

describe('reading a ledger', () => {
  const texts = (...lines: string[]) => parseLedger(lines.join('\n')).items.map(({ text }) => text);
  const clarify = (...lines: string[]) => {
    const { present, items } = parseLedger(lines.join('\n')).clarify;
    return [present, items.filter(({ checked }) => !checked).length];
  };

  test('a ledger has an item per box, top to bottom, of every kind of list and at any depth', () => {
    const { items } = parseLedger(
      [
        '\uFEFF- [ ] dash',
        '* [x] star',
        '',
        '+ [X] plus',
        '1. [ ] number',
        '   - [ ] below it',
        '\t\t2) [ ] far in',
        '- - [ ] twice',
        '- [ ]',
        '# Heading',
        '-  [ ]  spaces  ',
      ].join('\r\n'),
    );
    assert.deepEqual(
      items.map(({ item, line, text, checked }) => [item, line, text, checked]),
      [
        [1, 1, 'dash', false],
        [2, 2, 'star', true],
        [3, 4, 'plus', true],
        [4, 5, 'number', false],
        [5, 6, 'below it', false],
        [6, 7, 'far in', false],
        [7, 8, 'twice', false],
        [8, 9, '', false],
        [9, 11, 'spaces', false],
      ],
    );
  });

  test('a ledger ignores lines that only resemble a box', () => {
    assert.deepEqual(
      texts(
        '- [] a',
        '-[ ] b',
        '- [ ]c',
        '- [y] d',
        '[ ] e',
        'text - [ ] f',
        '> - [ ] g',
        '- [link](x)',
        '\\- [ ] h',
      ),
      [],
    );
  });

  test('a ledger ignores fenced code', () => {
    assert.deepEqual(
      texts(
        '- [ ] one',
        '```md',
        '- [ ] code',
        '~~~',
        '``',
        '- [ ] code still',
        '```',
        '- [ ] two',
        '  ~~~~ text',
        '  - [ ] code',
        '  ~~~',
        '  ~~~~~ ',
        '- ```',
        '  - [ ] code',
        '  ```',
        '- [ ] three ```inline```',
        '```inline``` only',
        '- [ ] four',
        '```',
        '- [ ] never closed',
      ),
      ['one', 'two', 'three ```inline```', 'four'],
    );
  });

  test('a ledger ignores comments, and shows none', () => {
    assert.deepEqual(
      texts(
        '<!-- - [ ] one line -->',
        '- [ ] one <!-- a note --> and more',
        '<!--',
        '- [ ] commented',
        '```',
        '-->',
        '- [ ] two',
        '  <!-- begins',
        '  - [ ] commented',
        '  --> - [ ] ends',
        'a sentence with <!-- in it',
        '- [ ] three `<!--`',
        '- [ ] four',
        '        <!-- not closed, so far in that it is code',
        '- [ ] five',
        '<!-- never closed',
        '- [ ] commented',
      ),
      ['one  and more', 'two', 'three `<!--`', 'four', 'five'],
    );
  });

  test('the section Clarify extends to the next heading that is not below it', () => {
    assert.deepEqual(clarify('- [ ] a', '## Plan', '- [ ] b'), [false, 0]);
    assert.deepEqual(
      clarify('## Clarify', '- [x] a', '- [ ] b', '### More', '- [ ] c', '## Plan', '- [ ] d'),
      [true, 2],
    );
    assert.deepEqual(clarify('## Clarify', '- [ ] a', '# Other', '- [ ] b'), [true, 1]);
    assert.deepEqual(clarify('  ## clarify ##  ', '- [ ] a', '', 'Plan', '----', '- [ ] b'), [true, 1]);
    assert.deepEqual(clarify('Clarify', '-------', 'text', '', '- [ ] a'), [true, 1]);
    assert.deepEqual(clarify('## Clarify', '- [x] a', '## Plan', '- [ ] b', '## Clarify', '- [ ] c'), [
      true,
      1,
    ]);
    assert.deepEqual(clarify('## Clarify', ''), [true, 0]);
    for (const other of [
      '# Clarify',
      '### Clarify',
      '## Clarify it',
      '##Clarify',
      '    ## Clarify',
      '> ## Clarify',
    ])
      assert.deepEqual(clarify(other, '- [ ] a'), [false, 0], other);
  });

  test('a line that is not a heading ends no section', () => {
    const lines = [
      '## Clarify',
      '- [x] a',
      '---',
      'lazy',
      '---',
      '```',
      '## Code',
      '```',
      '<!--',
      '# No',
      '-->',
      '> quoted',
      '---',
    ];
    assert.deepEqual(clarify(...lines, '- [ ] b'), [true, 1]);
    assert.deepEqual(clarify('## Clarify', '- [x] a', 'lazy continuation', '---', '- [ ] b'), [true, 1]);
    assert.deepEqual(clarify('## Clarify', '#hashtag', '- [ ] b'), [true, 1]);
  });

  test('reading takes linear time for any content', () => {
    const long = 200_000;
    for (const line of ['<!--', '# ', '- ', '`', '- [ ] <!--', '## #', '1. ', '    <!--\n', 'a\n'])
      parseLedger(`## Clarify\n${line.repeat(long)}\n- [ ] x`);
  });
});

describe('a claim', () => {
  let rig: HoldingRig;
  beforeEach(() => {
    rig = holdingRig();
    write('plan.md', '- [ ] first', '- [x] second', '- [ ] third');
  });
  afterEach(() => rig.close());

  const write = (path: string, ...lines: string[]) => writeFileSync(join(rig.root, path), lines.join('\n'));
  const claim = (holder: string, item: number, ledger = 'plan.md', ttlMin = 60) =>
    rig.storage.write(() => rig.ledgers.claim({ holder, item, ledger, ttlMin }, BY));
  const release = (holder: string, item: number, ledger = 'plan.md') =>
    rig.storage.write(() => rig.ledgers.release({ holder, item, ledger }, BY));

  test('a claim belongs to one session until it is released', async () => {
    assert.deepEqual(await claim('a', 1), {
      ledger: 'plan.md',
      item: 1,
      text: 'first',
      holder: 'a',
      expiresAt: '2026-01-02T04:04:05.000Z',
    });
    await assert.rejects(claim('b', 1), (error: SvcError) => {
      assert.equal(error.message, 'item 1 of plan.md is held by a until 2026-01-02T04:04:05.000Z: "first"');
      assert.deepEqual([error.code, error.data.held_by, error.data.item], ['item_held', 'a', 1]);
      return true;
    });
    await claim('b', 3);
    await assert.rejects(release('b', 1), refusal('holder_mismatch', /held by a, not by b/));
    assert.deepEqual(await release('a', 1), { ledger: 'plan.md', text: 'first' });
    await assert.rejects(release('a', 1), refusal('not_found'));
    await claim('b', 1);
    assert.equal((await release('*', 1)).ledger, 'plan.md');
    assert.deepEqual(
      rig.events_('item_claimed').map(({ holder, item, text }) => [holder, item, text]),
      [
        ['a', 1, undefined],
        ['b', 3, undefined],
        ['b', 1, undefined],
      ],
    );
    assert.equal(rig.events_('item_released').length, 2);
  });

  test('a claim needs an existing open item', async () => {
    await assert.rejects(claim('a', 2), refusal('conflict', /item 2 of plan.md is already checked/));
    await assert.rejects(claim('a', 4), refusal('not_found', /has 3 items, but no item 4/));
    await assert.rejects(claim('a', 1, 'none.md'), refusal('not_found', /no ledger none.md/));
    await assert.rejects(claim('a', 1, 'plan.md/x'), refusal('not_found'));
    await assert.rejects(claim('a', 1, '.'), refusal('fields_invalid', /is not a file/));
    await assert.rejects(claim('a', 1, '../plan.md'), refusal('path_outside'));
    symlinkSync('/etc/hostname', join(rig.root, 'out.md'));
    await assert.rejects(claim('a', 1, 'out.md'), refusal('path_outside'));
    write('huge.md', '- [ ] x'.padEnd(2 ** 21));
    await assert.rejects(claim('a', 1, 'huge.md'), refusal('fields_invalid', /more than 1 MiB/));
  });

  test("a claim is extended by its holder, and takes the item's current text", async () => {
    await claim('a', 1, 'plan.md', 10);
    write('plan.md', '- [ ] first, reworded');
    assert.equal(rig.ledgers.show('plan.md').items[0]?.claimedTextDiffers, true);
    rig.clock.advance(9 * 60_000);
    const { text, expiresAt } = await claim('a', 1, 'plan.md', 10);
    assert.deepEqual([text, expiresAt], ['first, reworded', '2026-01-02T03:23:05.000Z']);
    assert.equal(rig.ledgers.show('plan.md').items[0]?.claimedTextDiffers, false);
  });

  test('a claim of an expired, dead or ended holder is free; one of an unknown id when its time is over', async () => {
    rig.live.add('known');
    await claim('known', 1);
    await claim('stranger', 3);
    await assert.rejects(claim('b', 1), refusal('item_held', /known/));
    await assert.rejects(claim('b', 3), refusal('item_held', /stranger/));
    rig.ended.add('known');
    assert.equal(rig.ledgers.show('plan.md').items[0]?.holder, null);
    await assert.rejects(release('known', 1), refusal('not_found'));
    await claim('b', 1);
    await assert.rejects(claim('known', 1), refusal('conflict', /session known has ended/));
    rig.clock.advance(60 * 60_000);
    assert.deepEqual(
      rig.ledgers.show('plan.md').items.map(({ holder }) => holder),
      [null, null, null],
    );
    await assert.rejects(release('stranger', 3), refusal('not_found'));
    await claim('c', 3);
    await assert.rejects(release('stranger', 3), refusal('holder_mismatch', /held by c/));
    assert.deepEqual(
      rig.events_('item_released').map(({ holder, reason }) => [holder, reason]),
      [
        ['known', 'its session has ended'],
        ['b', 'it expired'],
        ['stranger', 'it expired'],
      ],
    );
  });

  test('a claim is on the one file that a path means', async () => {
    mkdirSync(join(rig.root, 'a'));
    mkdirSync(join(rig.root, '.svc/agents/worktrees/s-1'), { recursive: true });
    writeFileSync(join(rig.root, '.svc/agents/worktrees/s-1/plan.md'), '- [x] done in the copy');
    symlinkSync('plan.md', join(rig.root, 'link.md'));
    await claim('a', 1);
    const names = [
      './plan.md',
      join(rig.root, 'plan.md'),
      'a/../plan.md',
      'link.md',
      '.svc/agents/worktrees/s-1/plan.md',
    ];
    for (const name of names) {
      await assert.rejects(claim('b', 1, name), refusal('item_held'), name);
      assert.equal(rig.ledgers.show(name).ledger, 'plan.md');
    }
  });

  test('a claim ends with its session', async () => {
    await claim('a', 1);
    await claim('b', 3);
    await rig.storage.write(() => rig.ledgers.releaseAll('a', 'its session has ended'));
    assert.deepEqual(
      rig.ledgers.show('plan.md').items.map(({ holder }) => holder),
      [null, null, 'b'],
    );
  });

  test('a claim raced for by 32 callers has one holder, and the others learn who it is', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 32 }, (_, index) => claim(`p-${index}`, 1)));
    assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1);
    const winner = rig.ledgers.show('plan.md').items[0]?.holder;
    for (const each of tries)
      if (each.status === 'rejected')
        assert.deepEqual([each.reason.code, each.reason.data.held_by], ['item_held', winner]);
  });
});

describe('a ledger in the engine', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws, { workerCap: 0 });
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const write = (path: string, ...lines: string[]) => writeFileSync(join(ws.root, path), lines.join('\n'));
  const add = async (ledger: string) =>
    (await here.call('task.add', { title: 'a task', agent: 'scripted', ledger })).task_id;
  const status = async (id: string) => (await here.call('task.show', { id })).task.status;
  const dispatched = (id: string) =>
    here.engine.events.listOfTask(id).filter(({ kind }: LoggedEvent) => kind === 'dispatched');
  const worker = (sessionId: string): Partial<Caller> => ({ seat: 'worker', sessionId, via: 'tool' });

  async function session(): Promise<string> {
    const task = await here.call('task.add', { title: 'holds', agent: 'scripted' });
    return (await here.call('task.run', { id: task.task_id })).session?.session_id ?? assert.fail();
  }

  test('a ledger shows who works on each item, and how much of Clarify is open', async () => {
    write('show.md', '## Clarify', '- [ ] who', '## Plan', '- [ ] what');
    const me = await session();
    const claim = await here.call('task.claim', { holder: me, item: 2, ledger: 'show.md' }, worker(me));
    assert.deepEqual(Object.keys(claim as object).sort(), ['expires_at', 'holder', 'item', 'ledger', 'text']);
    const shown = await here.call('ledger.show', { ledger: 'show.md' });
    assert.deepEqual(shown, {
      ledger: 'show.md',
      items: [
        {
          item: 1,
          line: 2,
          text: 'who',
          checked: false,
          holder: null,
          expires_at: null,
          claimed_text_differs: false,
        },
        {
          item: 2,
          line: 4,
          text: 'what',
          checked: false,
          holder: me,
          expires_at: (claim as { expires_at: string }).expires_at,
          claimed_text_differs: false,
        },
      ],
      clarify: { present: true, open: 1 },
    });
    const task =
      here.engine.events.listAfter(0).find(({ sessionId }) => sessionId === me)?.taskId ?? assert.fail();
    await here.call('task.cancel', { id: task });
    assert.equal((await here.call('ledger.show', { ledger: 'show.md' })).items[1]?.holder, null);
  });

  test('a ledger lets a worker act for itself only, even with *', async () => {
    write('own.md', '- [ ] one', '- [ ] two');
    const [me, other] = [await session(), await session()];
    const input = { item: 1, ledger: 'own.md' };
    await assert.rejects(
      here.call('task.claim', { holder: other, ...input }, worker(me)),
      refusal('holder_mismatch'),
    );
    await here.call('task.claim', { holder: other, ...input }, worker(other));
    for (const holder of ['*', other])
      await assert.rejects(
        here.call('task.release', { holder, ...input }, worker(me)),
        refusal('holder_mismatch'),
        holder,
      );
    assert.deepEqual(await here.call('task.release', { holder: '*', ...input }, worker(other)), {
      ledger: 'own.md',
      item: 1,
      text: 'one',
      released: true,
    });
    await here.call('task.claim', { holder: other, ...input }, worker(other));
    await here.call('task.release', { holder: '*', ...input });
  });

  test('a ledger gives an item to one of 32 simultaneous calls', async () => {
    write('race.md', '- [ ] one');
    await here.join(...Array.from({ length: 32 }, (_, index) => `p-${index}`));
    const tries = await Promise.allSettled(
      Array.from({ length: 32 }, (_, index) =>
        here.call('task.claim', { holder: `p-${index}`, item: 1, ledger: 'race.md' }),
      ),
    );
    const winners = tries.filter(({ status }) => status === 'fulfilled');
    assert.equal(winners.length, 1);
    const { holder } = (winners[0] as PromiseFulfilledResult<{ holder: string }>).value;
    for (const each of tries)
      if (each.status === 'rejected')
        assert.deepEqual([each.reason.code, each.reason.data.held_by], ['item_held', holder]);
  });

  test('a ledger holds every way to a dispatch while Clarify has an open item', async () => {
    write(
      'gate.md',
      '# Plan',
      '## Clarify',
      '- [ ] which port',
      '- [x] which host',
      '## Steps',
      '- [ ] build it',
    );
    const id = await add('./gate.md');
    const refused = (error: SvcError) => {
      assert.equal(error.code, 'ledger_gate');
      assert.equal(error.message, `the ledger of ${id} has 1 item to clarify first`);
      assert.equal(error.hint, 'settle and check off gate.md:3');
      assert.deepEqual(error.data, {
        task_id: id,
        ledger: 'gate.md',
        open: [{ item: 1, line: 3, text: 'which port' }],
      });
      return true;
    };
    await assert.rejects(here.call('task.run', { id }), refused);
    assert.equal(await status(id), 'assigned');
    await here.call('task.done', { id, status: 'failed' });
    await assert.rejects(here.call('task.retry', { id }), refused);
    assert.equal(await status(id), 'failed');
    const plan = await here.call('task.plan', { id });
    assert.equal(plan.problem?.code, 'ledger_gate');
    const forced = await here.call('task.plan', { id }, { env: { SVC_LEDGER_FORCE: '1' } });
    assert.equal(forced.problem, null);
    await here.call('task.retry', { id, hold: true });
    write('gate.md', '## Clarify', '- [x] which port');
    assert.equal((await here.call('task.plan', { id })).problem, null);
    await here.call('task.run', { id });
    assert.equal(dispatched(id)[0]?.data.ledgerForced, undefined);
  });

  test('a ledger holds a dispatch while the file is missing or unreadable', async () => {
    const missing = await add('later.md');
    await assert.rejects(here.call('task.run', { id: missing }), refusal('ledger_gate', /is missing/));
    mkdirSync(join(ws.root, 'folder.md'));
    const folder = await add('folder.md');
    await assert.rejects(here.call('task.run', { id: folder }), refusal('ledger_gate', /cannot be read/));
    write('turned.md', '');
    const turned = await add('turned.md');
    rmSync(join(ws.root, 'turned.md'));
    symlinkSync('/etc/hostname', join(ws.root, 'turned.md'));
    await assert.rejects(here.call('task.run', { id: turned }), refusal('ledger_gate', /cannot be read/));
    await assert.rejects(add('/etc/hostname'), refusal('path_outside'));
    write('later.md', 'no section at all');
    await here.call('task.run', { id: missing });
  });

  test('force passes a ledger, which is recorded only where it was needed', async () => {
    write('force.md', '## Clarify', '- [ ] open');
    const byFlag = await add('force.md');
    await here.call('task.run', { id: byFlag, force: true });
    assert.equal(dispatched(byFlag)[0]?.data.ledgerForced, true);
    const byVariable = await add('force.md');
    await here.call('task.run', { id: byVariable }, { env: { SVC_LEDGER_FORCE: '1' } });
    assert.equal(dispatched(byVariable)[0]?.data.ledgerForced, true);
    const off = await add('force.md');
    await assert.rejects(
      here.call('task.run', { id: off }, { env: { SVC_LEDGER_FORCE: '0' } }),
      refusal('ledger_gate'),
    );
    write('force.md', '## Clarify', '- [x] open');
    await here.call('task.run', { id: off, force: true });
    assert.equal(dispatched(off)[0]?.data.ledgerForced, undefined);
  });
});
