import { asSvcError } from '../engine/core/base/errors.ts';
import type { DashboardEffect } from './actions/transition.ts';
import { editText } from './editor.ts';
import { runOnTerminal } from './foreground.ts';
import type { DashboardOptions } from './options.ts';
import type { Store } from './store.ts';

/** One handler for each kind of effect. */
export type EffectHandlers = {
  [K in DashboardEffect['do']]: (effect: Extract<DashboardEffect, { do: K }>) => void;
};

export const performEffect = (handlers: EffectHandlers, effect: DashboardEffect): void =>
  handlers[effect.do](effect as never);

/** The dependencies for handing the terminal to another program. */
interface TerminalLender extends Pick<DashboardOptions, 'env' | 'svc' | 'cwd'> {
  store: Pick<Store, 'send'>;
  borrowTerminal(use: () => Promise<void>): Promise<void>;
}

/** Lends the terminal to `use` and passes its result to `onDone`. Does nothing if the terminal is already lent. */
async function lendTerminal<T>(
  { store, borrowTerminal }: Pick<TerminalLender, 'store' | 'borrowTerminal'>,
  use: () => Promise<T>,
  onDone: (answer: T) => void,
): Promise<void> {
  let answers: T[] = [];
  try {
    await borrowTerminal(async () => {
      answers = [await use()];
    });
    for (const answer of answers) onDone(answer);
  } catch (error) {
    const { message, hint } = asSvcError(error);
    store.send({ type: 'message', text: message, tone: 'bad', hint });
  }
}

/** Opens a text in the person's editor. */
export const runEditor = (
  effect: Extract<DashboardEffect, { do: 'edit' }>,
  lender: TerminalLender,
): Promise<void> =>
  lendTerminal(
    lender,
    () => editText(effect.text, effect.name, lender.env),
    (text) => lender.store.send({ type: 'edited', effect, text }),
  );

/** Runs an svc command on this terminal. */
export const runSvcCommand = (
  effect: Extract<DashboardEffect, { do: 'command' }>,
  lender: TerminalLender,
): Promise<void> =>
  lendTerminal(
    lender,
    () =>
      runOnTerminal([...lender.svc, ...effect.words], {
        ...lender,
        env: { ...lender.env, ...effect.env },
      }),
    (code) => lender.store.send({ type: 'exited', effect, code }),
  );

/**
 * Collects the keys of one turn of the event loop into one burst, regardless of how many events the parser emits.
 * Such a burst comes from a paste without brackets, a script or a held key. Pasted text comes after the keys before
 * it.
 */
export function createKeyCollector(store: Pick<Store, 'send'>): {
  collect(names: readonly string[]): void;
  paste(text: string): void;
} {
  let burst: string[] = [];
  function sendBurst(): void {
    const keys = burst;
    burst = [];
    if (keys.length > 0) store.send({ type: 'keys', keys, at: Date.now() });
  }
  return {
    collect(names) {
      if (names.length > 0 && burst.length === 0) queueMicrotask(sendBurst);
      burst.push(...names);
    },
    paste(text) {
      sendBurst();
      store.send({ type: 'paste', text });
    },
  };
}
