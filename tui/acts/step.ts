import { type Api, localizeTimes } from '../../engine/index.ts';
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
      said(answer: never): string;
      /** What the answer changes beside the message, such as the selection. */
      after?(state: State, answer: never): State;
    }
  | { do: 'edit'; text: string; name: string; after(state: State, text: string): Step }
  /** Runs svc itself with these words on the terminal, in the place of the dashboard. */
  | { do: 'command'; words: readonly string[]; after(state: State, code: number): State }
  | { do: 'start-engine' }
  | { do: 'suspend' }
  | { do: 'redraw' }
  | { do: 'bell' }
  | { do: 'quit' };

export interface Step {
  state: State;
  effects: readonly Effect[];
}

export const step = (state: State, ...effects: Effect[]): Step => ({ state, effects });

export const said = (state: State, text: string, tone: Message['tone'] = 'info', hint?: string): State => ({
  ...state,
  message: {
    text: localizeTimes(text),
    tone,
    hint: hint === undefined ? hint : localizeTimes(hint),
    at: state.now,
  },
});

/** A call to the engine; its subject is busy until the answer is there. */
export function call<K extends keyof Api>(
  state: State,
  request: {
    operation: K;
    input: Api[K]['input'];
    busy: string;
    doing: string;
    said(answer: Api[K]['output']): string;
    after?(state: State, answer: Api[K]['output']): State;
  },
): Step {
  const { operation, input, busy, doing } = request;
  const next = said({ ...state, busy: [...state.busy, busy] }, `${doing} …`);
  return step(next, {
    do: 'call',
    operation,
    input,
    busy,
    said: request.said,
    ...(request.after ? { after: request.after } : {}),
  } as Effect);
}

/** A key that asks first. The answer runs only if the subject still is what was seen when the question was asked. */
export interface Question {
  subject: Subject;
  text: string;
  answers: readonly { key: string; label: string; run(state: State): Step }[];
}
