import { asSvcError } from '../engine/index.ts';
import type { Effect } from './actions/transition.ts';
import { editText } from './editor.ts';
import { runOnTerminal } from './foreground.ts';
import type { DashboardOptions } from './options.ts';
import type { Store } from './store.ts';

/** Who does what the reducer asks for. */
export type EffectHandlers = { [K in Effect['do']]: (effect: Extract<Effect, { do: K }>) => void };

export const performEffect = (doers: EffectHandlers, effect: Effect): void =>
  doers[effect.do](effect as never);

/** What others need who get the terminal for a while. */
interface TerminalLender extends Pick<DashboardOptions, 'env' | 'svc' | 'cwd'> {
  store: Store;
  borrowTerminal(use: () => Promise<void>): Promise<void>;
}

/** Lets `use` have the terminal, and tells what became of it; nothing when the terminal is lent already. */
async function lendTerminal<T>(
  { store, borrowTerminal: borrow }: Pick<TerminalLender, 'store' | 'borrowTerminal'>,
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
    store.send({ type: 'message', text: message, tone: 'bad', hint });
  }
}

/** Lets the person edit a text. */
export const runEditor = (effect: Extract<Effect, { do: 'edit' }>, lender: TerminalLender): Promise<void> =>
  lendTerminal(
    lender,
    () => editText(effect.text, effect.name, lender.env),
    (text) => lender.store.send({ type: 'edited', effect, text }),
  );

/** Runs a command of svc for the person. */
export const runSvcCommand = (
  effect: Extract<Effect, { do: 'command' }>,
  lender: TerminalLender,
): Promise<void> =>
  lendTerminal(
    lender,
    () => runOnTerminal([...lender.svc, ...effect.words], lender),
    (code) => lender.store.send({ type: 'exited', effect, code }),
  );

/**
 * Keys of one turn of the event loop are one burst, however many events the parser makes of it: a paste without
 * brackets, a script, a held key.
 */
export function createKeyCollector(store: Store): (names: readonly string[]) => void {
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
