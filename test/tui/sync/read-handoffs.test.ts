import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { readShownHandoffs } from '../../../tui/sync/read-handoffs.ts';
import { type Bench, bench, messageRow } from '../../support/terminals/dashboard.ts';

describe('a handoff in the preview of Bus', () => {
  let dash: Bench;
  let acknowledged: unknown[];
  let reading: ReturnType<typeof readShownHandoffs>;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    acknowledged = [];
    const client = {
      call: async (operation: string, input: unknown) => void acknowledged.push([operation, input]),
    } as unknown as EngineClient;
    dash = bench().data({
      messages: [messageRow(1, { kind: 'handoff' }), messageRow(2, { kind: 'note' })],
    });
    reading = readShownHandoffs({ client: () => client, getState: () => dash.state() });
  });
  afterEach(() => {
    reading.close();
    mock.timers.reset();
  });

  const stayAt = (id: number, ms = 1000): void => {
    dash.send({ type: 'go', pane: 'bus', id: String(id) });
    reading.onStateChange();
    mock.timers.tick(ms);
    reading.onStateChange();
  };

  it('a handoff is read by selecting it for a moment, once', () => {
    stayAt(1);
    stayAt(1);
    assert.deepEqual(acknowledged, [['msg.ack', { id: 1, as_person: true }]]);
  });

  it('a handoff is not read by passing over it, nor a note by being shown', () => {
    stayAt(1, 100);
    stayAt(2);
    dash.keys('1');
    reading.onStateChange();
    mock.timers.tick(1000);
    assert.deepEqual(acknowledged, []);
  });
});
