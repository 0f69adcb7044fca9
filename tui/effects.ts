import { asSvcError } from '../engine/index.ts';
import type { Effect } from './actions/transition.ts';
import { editText } from './editor.ts';
import { runHere } from './foreground.ts';
import type { DashboardOptions } from './options.ts';
import type { Store } from './store.ts';

/** Who does what the reducer asks for. */
export type Doers = { [K in Effect['do']]: (effect: Extract<Effect, { do: K }>) => void };

export const perform = (doers: Doers, effect: Effect): void => doers[effect.do](effect as never);

/** What others need who get the terminal for a while. */
interface Lender extends Pick<DashboardOptions, 'env' | 'svc' | 'cwd'> {
  store: Store;
  borrow(use: () => Promise<void>): Promise<void>;
}

/** Lets `use` have the terminal, and tells what became of it; nothing when the terminal is lent already. */
async function lend<T>(
  { store, borrow }: Pick<Lender, 'store' | 'borrow'>,
  use: () => Promise<T>,
  tell: (answer: T) => void,
): Promise<void> {
  let answers: T[] = [];
  try {
    await borrow(async () => {
      answers = [await use()];
    });
    for (const answer of answers) tell(answer);
  } catch (error) {
    const { message, hint } = asSvcError(error);
    store.send({ type: 'said', text: message, tone: 'bad', hint });
  }
}

/** Lets the person edit a text. */
export const edit = (effect: Extract<Effect, { do: 'edit' }>, lender: Lender): Promise<void> =>
  lend(
    lender,
    () => editText(effect.text, effect.name, lender.env),
    (text) => lender.store.send({ type: 'edited', effect, text }),
  );

/** Runs a command of svc for the person. */
export const runCommand = (effect: Extract<Effect, { do: 'command' }>, lender: Lender): Promise<void> =>
  lend(
    lender,
    () => runHere([...lender.svc, ...effect.words], lender),
    (code) => lender.store.send({ type: 'ran', effect, code }),
  );

/**
 * Keys of one turn of the event loop are one burst, however many events the parser makes of it: a paste without
 * brackets, a script, a held key.
 */
export function createBurst(store: Store): (names: readonly string[]) => void {
  let burst: string[] = [];
  return (names) => {
    if (names.length === 0) return;
    burst.push(...names);
    if (burst.length > names.length) return;
    queueMicrotask(() => {
      const keys = burst;
      burst = [];
      store.send({ type: 'keys', keys, at: Date.now() });
    });
  };
}
