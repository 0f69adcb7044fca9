import type { State } from '../state/model.ts';
import { call, type Question } from './transition.ts';

const selected = (state: State) => state.data.deliveries.get(state.lists.deliveries.selected ?? '');

export const mayRedeliver = (state: State): string | null =>
  selected(state) === undefined ? 'no delivery is selected' : null;

export function redeliverQuestion(state: State): Question {
  const { id, event, url } = selected(state)!;
  return {
    subject: { kind: 'delivery', id: String(id) },
    text: `Send ${event} again to ${url}?`,
    answers: [
      {
        key: 'y',
        label: 'send',
        run: (now) =>
          call(now, {
            operation: 'notify.redeliver',
            input: { id },
            busy: `delivery ${id}`,
            doing: `sending delivery ${id}`,
            said: () => `delivery ${id} is sent again under the same message id`,
          }),
      },
    ],
  };
}
