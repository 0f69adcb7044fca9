import { type Api, withLocalTimes } from '../../engine/index.ts';
import type { Message, State, Subject } from '../state/model.ts';

/** What has to be done outside the state. The feed and the terminal do it; `update` only asks. */
export type Effect =
  | {
      do: 'call';
      operation: keyof Api;
      input: object;
      /** The subject that is busy until the answer. */
      busy: string;
      /** One line about the answer. */
      describeAnswer(answer: never): string;
      /** What the answer changes beside the message, such as the selection. */
      onAnswer?(state: State, answer: never): State;
    }
  | { do: 'edit'; text: string; name: string; onEdited(state: State, text: string): Transition }
  /** Runs svc itself with these words on the terminal, in the place of the dashboard. */
  | { do: 'command'; words: readonly string[]; onExit(state: State, code: number): State }
  | { do: 'start-engine' }
  | { do: 'suspend' }
  | { do: 'redraw' }
  | { do: 'bell' }
  | { do: 'quit' };

export interface Transition {
  state: State;
  effects: readonly Effect[];
}

export const transitionTo = (state: State, ...effects: Effect[]): Transition => ({ state, effects });

export const showMessage = (
  state: State,
  text: string,
  tone: Message['tone'] = 'info',
  hint?: string,
): State => ({
  ...state,
  message: {
    text: withLocalTimes(text),
    tone,
    hint: hint === undefined ? hint : withLocalTimes(hint),
    at: state.now,
  },
});

/** A call to the engine; its subject is busy until the answer is there. */
export function callEngine<K extends keyof Api>(
  state: State,
  request: {
    operation: K;
    input: Api[K]['input'];
    busy: string;
    doing: string;
    describeAnswer(answer: Api[K]['output']): string;
    onAnswer?(state: State, answer: Api[K]['output']): State;
  },
): Transition {
  const { operation, input, busy, doing } = request;
  const next = showMessage({ ...state, busy: [...state.busy, busy] }, `${doing} …`);
  return transitionTo(next, {
    do: 'call',
    operation,
    input,
    busy,
    describeAnswer: request.describeAnswer,
    ...(request.onAnswer ? { onAnswer: request.onAnswer } : {}),
  } as Effect);
}

/** A key that asks first. The answer runs only if the subject still is what was seen when the question was asked. */
export interface Question {
  subject: Subject;
  text: string;
  answers: readonly { key: string; label: string; run(state: State): Transition }[];
}
