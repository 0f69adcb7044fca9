import { asSvcError } from '../engine/index.ts';
import type { Effect } from './acts/step.ts';
import { editText } from './editor.ts';
import type { Store } from './store.ts';

/** Who does what the reducer asks for. */
export type Doers = { [K in Effect['do']]: (effect: Extract<Effect, { do: K }>) => void };

export const perform = (doers: Doers, effect: Effect): void => doers[effect.do](effect as never);

/** Lets the person edit a text while `borrow` has the terminal for the editor. */
export async function edit(
  effect: Extract<Effect, { do: 'edit' }>,
  {
    store,
    env,
    borrow,
  }: { store: Store; env: NodeJS.ProcessEnv; borrow(use: () => Promise<void>): Promise<void> },
): Promise<void> {
  let text: string | null = null;
  try {
    await borrow(async () => {
      text = await editText(effect.text, effect.name, env);
    });
    if (text !== null) store.send({ type: 'edited', effect, text });
  } catch (error) {
    const { message, hint } = asSvcError(error);
    store.send({ type: 'said', text: message, tone: 'bad', hint });
  }
}

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
