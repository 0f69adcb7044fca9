import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createStrangerAnswers } from '../../../../engine/linked-server/chats/stranger-answers.ts';
import { fakeClock } from '../../../support/clock.ts';

it('unconnected people get the same answer once in five minutes, and at most a thousand of them are remembered', () => {
  const clock = fakeClock();
  const { limit } = createStrangerAnswers({ clock });
  const ask = (id: number, text = 'no') => limit('telegram', { id: String(id) }, text);
  assert.equal(ask(1), 'no');
  assert.equal(ask(1), null);
  assert.equal(ask(1, 'something else'), 'something else');
  assert.equal(limit('slack', { id: '1' }, 'no'), 'no', 'the same id in another service is another person');
  clock.advance(60_000);
  const told = Array.from({ length: 2000 }, (_, at) => ask(at + 2)).filter((text) => text !== null);
  assert.equal(told.length, 997, 'the others get no answer');
  clock.advance(4 * 60_000);
  assert.equal(ask(1), 'no');
  assert.equal(ask(2), null);
  clock.advance(60_000);
  assert.equal(ask(3000), 'no');
});
