import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ListedMemories, ListedMemory } from '../../../tui/state/rows.ts';
import { type Bench, bench, memoryRow } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const brief = {
  session_id: 's-9',
  task_id: 't-9',
  at: '2026-03-01T11:50:00.000Z',
  ids: [memoryRow(1).id],
  bytes: 1200,
  tokens: 300,
};
const found = (
  memories: ListedMemory[],
  more: Partial<ListedMemories> = {},
): { memories: ListedMemories } => ({
  memories: { filter: '', memories, active: 40, unreviewed: 0, conflicts: 0, brief, ...more },
});
const other = memoryRow(7, { text: 'It closes at nine.' });
const ROWS = [
  memoryRow(1, { is_in_brief: true }),
  memoryRow(2, { text: 'It closes at eight.', against: [other] }),
  memoryRow(3, { unreviewed: 'a worker of t-2, which comes from outside (chat)', type: 'gotcha' }),
  memoryRow(4, { text_chars: 90_000 }),
];
const openMemory = (columns = 80, rows = 24): Bench =>
  bench(columns, rows)
    .keys('M')
    .data(found(ROWS, { unreviewed: 1, conflicts: 1 }));
const select = (dash: Bench, id: number): Bench => {
  dash.send({ type: 'go', pane: 'memories', id: memoryRow(id).id });
  dash.wait(300);
  return dash;
};
const readScreen = (dash: Bench): string => screenOf(dash.state()).join('\n');
const lastMessage = (dash: Bench): string => dash.state().message?.text ?? '';

describe('the memory pane', () => {
  it('the pane lists memories with pending, contradicting and briefed ones, and their cost', () => {
    const shown = readScreen(openMemory());
    for (const part of [
      '5 Memory',
      '4 of 40',
      '1 wait',
      '1 conflict',
      'waits',
      'conflict',
      'brief',
      'Memory number 1',
    ])
      assert.ok(shown.includes(part), `${part} is not in\n${shown}`);
    assert.match(
      readScreen(openMemory(100, 40)),
      /last brief +1 memory, about 300 tokens \(1200 bytes\), to s-9 for t-9/,
    );
    assert.equal(openMemory().keys('esc').state().focus, 'work');
  });

  it('the pane searches while typing: the engine finds, and the best is first', () => {
    const dash = select(openMemory(), 3).keys('/').burst('p', 'o', 'o', 'l');
    assert.equal(dash.state().lists.memories.filter, 'pool');
    assert.equal(dash.state().lists.memories.ids.length, 4, 'the list stays until the engine answers');
    dash.data(found([memoryRow(9), memoryRow(3)], { filter: 'pool' }));
    assert.deepEqual(dash.state().lists.memories.ids, [memoryRow(9).id, memoryRow(3).id]);
    assert.equal(dash.state().lists.memories.selected, memoryRow(9).id);
    dash.keys('enter').data(found([memoryRow(8), memoryRow(9), memoryRow(3)], { filter: 'pool' }));
    assert.equal(dash.state().lists.memories.selected, memoryRow(9).id, 'new rows do not move the cursor');
  });

  it('the pane shows contradicting texts side by side, or stacked where there is no room', () => {
    assert.match(readScreen(select(openMemory(), 2)), /It closes at eight\. +│ It closes at nine\./);
    const narrow = readScreen(select(openMemory(60, 30), 2));
    assert.match(narrow, /It closes at eight\.[\s\S]*It closes at nine\./);
    assert.doesNotMatch(narrow, /eight\. +│ It/);
  });

  it('K lets a memory enter briefs, or supersede its contradiction, after a second key', () => {
    const waits = select(openMemory(), 3).keys('K');
    assert.match(waits.state().armed?.question ?? '', /Keep m-a+3 "Memory number 3"\? It may enter briefs/);
    assert.deepEqual(waits.calls(), []);
    assert.deepEqual(waits.keys('y').calls(), [{ operation: 'memory.keep', input: { id: memoryRow(3).id } }]);
    const settles = select(openMemory(), 2).keys('K');
    assert.match(settles.state().armed?.question ?? '', /It supersedes m-a+7/);
    assert.deepEqual(settles.keys('y').calls(), [
      { operation: 'memory.settle', input: { id: memoryRow(2).id } },
    ]);
    assert.match(lastMessage(select(openMemory(), 1).keys('K')), /is already kept/);
  });

  it('K refuses a text that has not been on the screen', () => {
    const long = memoryRow(5, { unreviewed: 'an agent imported it', text: 'line\n'.repeat(60) });
    const dash = bench()
      .keys('M')
      .data(found([long]))
      .wait(300)
      .keys('K');
    assert.equal(dash.state().armed, null);
    assert.equal(dash.state().view, 'full');
  });

  it('a question is withdrawn when the memory changes, and a burst acts on nothing', () => {
    const dash = select(openMemory(), 3).keys('x');
    assert.match(dash.state().armed?.question ?? '', /Forget m-a+3/);
    dash.data(found(ROWS.slice(0, 2)));
    assert.equal(dash.state().armed, null);
    assert.deepEqual(dash.keys('y').calls(), []);
    assert.deepEqual(select(openMemory(), 3).burst('x', 'y').calls(), []);
    assert.deepEqual(select(openMemory(), 3).keys('x', 'y').calls(), [
      { operation: 'memory.forget', input: { id: memoryRow(3).id } },
    ]);
  });

  it('e edits title and text in the editor, sends only changes, and refuses a truncated text', () => {
    const dash = select(openMemory(), 1).keys('e');
    const [effect] = dash.effects();
    assert.ok(effect?.do === 'edit');
    assert.equal(effect.text, 'Memory number 1\n\nText of memory 1.');
    dash.send({ type: 'edited', effect, text: `${effect.text}\n` });
    assert.match(lastMessage(dash), /is unchanged/);
    dash.send({ type: 'edited', effect, text: 'Memory number 1\n\n' });
    assert.match(lastMessage(dash), /needs a title and a text/);
    assert.deepEqual(dash.calls(), []);
    dash.send({ type: 'edited', effect, text: 'Memory number 1\n\nOther words.' });
    assert.deepEqual(dash.calls(), [
      { operation: 'memory.edit', input: { id: memoryRow(1).id, text: 'Other words.' } },
    ]);
    assert.match(lastMessage(select(openMemory(), 4).keys('e')), /too long.*svc memory edit m-a+4/);
  });
});
