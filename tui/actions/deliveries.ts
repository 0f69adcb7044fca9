import type { State } from '../state/model.ts';
import { callEngine, type ScreenQuestion } from './transition.ts';

const getSelectedDelivery = (state: State) =>
  state.data.deliveries.get(state.lists.deliveries.selected ?? '');

export const checkCanRedeliver = (state: State): string | null =>
  getSelectedDelivery(state) === undefined ? 'no delivery is selected' : null;

export function askToRedeliver(state: State): ScreenQuestion {
  const { id, event, url } = getSelectedDelivery(state)!;
  return {
    subject: { kind: 'delivery', id: String(id) },
    text: `Send ${event} again to ${url}?`,
    answers: [
      {
        key: 'y',
        label: 'send',
        run: (now) =>
          callEngine(now, {
            operation: 'notify.redeliver',
            input: { id },
            busy: `delivery ${id}`,
            doing: `sending delivery ${id}`,
            describeAnswer: () => `delivery ${id} is sent again with the same message id`,
          }),
      },
    ],
  };
}
