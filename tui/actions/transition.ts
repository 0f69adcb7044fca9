import { localizeTimes } from '../../engine/core/base/text.ts';
import type { Api } from '../../engine/index.ts';
import type { PaneId } from '../pane-ids.ts';
import type { PreferenceChange } from '../preferences/preferences.ts';
import type { DetailSubject, State, StatusMessage } from '../state/model.ts';
import type { OverlayState } from '../state/overlays.ts';

/** Work outside the state. The reducer only requests it; the engine sync and the terminal carry it out. */
export type DashboardEffect =
  | {
      do: 'call';
      operation: keyof Api;
      input: object;
      /** Id of the subject that accepts no second call until this one is answered. */
      busy: string;
      /** One line that tells the person what happened. */
      describeAnswer(answer: never): string;
      /** Explains why nothing was done although the engine has answered; null if it was. */
      findRefusal?(answer: never): string | null;
      /** Further changes by the answer, such as to the selection. */
      onAnswer?(state: State, answer: never): State;
      /** The page in the answer, which is opened in the browser. */
      findPage?(answer: never): string;
      /** The form that was sent. It comes back if the engine refuses it, so that no typed text is lost. */
      form?: OverlayState;
    }
  /** Sequential calls, regardless of failures before. */
  | { do: 'calls'; calls: readonly Extract<DashboardEffect, { do: 'call' }>[] }
  | { do: 'edit'; text: string; name: string; onEdited(state: State, text: string): StateTransition }
  /** Hands the terminal to `svc` with these arguments. */
  | {
      do: 'command';
      words: readonly string[];
      env?: Readonly<Record<string, string>>;
      onExit(state: State, code: number): State;
      /** Follows a success. */
      next?(state: State): StateTransition;
    }
  | { do: 'start-engine' }
  | { do: 'suspend' }
  | { do: 'redraw' }
  | { do: 'bell' }
  /** A notice of the terminal (OSC 9). */
  /** Copies through the terminal (OSC 52). */
  | { do: 'copy'; text: string }
  /** Opens a page in the browser. */
  | { do: 'browse'; url: string }
  /** Writes to ui.yaml. */
  | { do: 'save'; changes: readonly PreferenceChange[] }
  /** A step across workspaces, which only the dashboard of all of them can take. */
  | { do: 'across'; step: AcrossStep }
  | { do: 'quit' };

export type AcrossStep =
  /** A number of rows up or down in a combined list. */
  | { to: 'row'; by: number }
  | { to: 'pane'; pane: PaneId }
  /** A click on a visible line of a combined list, or on a column of the tabs. */
  | { to: 'line'; line: number }
  | { to: 'tab'; column: number }
  /** The next pending item, in any workspace. */
  | { to: 'waiting' }
  /** From all workspaces to a single one, or back. */
  | { to: 'workspace' };

/** The next state, and the effects that it requests. */
export interface StateTransition {
  state: State;
  effects: readonly DashboardEffect[];
}

export const transitionTo = (state: State, ...effects: DashboardEffect[]): StateTransition => ({
  state,
  effects,
});

export const showMessage = (
  state: State,
  text: string,
  tone: StatusMessage['tone'] = 'info',
  hint?: string,
): State => ({
  ...state,
  message: {
    text: localizeTimes(text),
    tone,
    hint: hint === undefined ? hint : localizeTimes(hint),
    at: state.now,
  },
});

/** Closes this overlay, but not another one that has replaced it. */
export const closeOverlay = (state: State, overlay: OverlayState): State =>
  state.overlay === overlay ? { ...state, overlay: null } : state;

/** Removes a question or form without a key, and explains why. Keys meant for it must not do anything else. */
export const withdraw = (state: State, text: string): State => ({
  ...showMessage(state, text, 'bad'),
  armed: null,
  overlay: null,
  withdrawnAt: state.now,
});

/** Calls the engine. The subject is busy until the answer arrives. */
export function callEngine<K extends keyof Api>(
  state: State,
  request: {
    operation: K;
    input: Api[K]['input'];
    busy: string;
    doing: string;
    describeAnswer(answer: Api[K]['output']): string;
    findRefusal?(answer: Api[K]['output']): string | null;
    onAnswer?(state: State, answer: Api[K]['output']): State;
    findPage?(answer: Api[K]['output']): string;
    form?: OverlayState;
  },
): StateTransition {
  const { operation, input, busy, doing } = request;
  const next = showMessage({ ...state, busy: [...state.busy, busy] }, `${doing} …`);
  return transitionTo(next, {
    do: 'call',
    operation,
    input,
    busy,
    describeAnswer: request.describeAnswer,
    ...(request.findRefusal ? { findRefusal: request.findRefusal } : {}),
    ...(request.onAnswer ? { onAnswer: request.onAnswer } : {}),
    ...(request.findPage ? { findPage: request.findPage } : {}),
    ...(request.form ? { form: request.form } : {}),
  } as DashboardEffect);
}

/** A question that a second key answers. The answer runs only if its subject has not changed since it was asked. */
export interface ScreenQuestion {
  subject: DetailSubject;
  text: string;
  answers: readonly { key: string; label: string; run(state: State): StateTransition }[];
}
