import type { z } from 'zod';
import { splitGraphemes } from '../text/text.ts';
import type { KeyBinding } from './binding.ts';
import { KEYMAP } from './index.ts';

const NAMED_KEYS =
  /^(?:enter|esc|tab|shift\+tab|space|up|down|left|right|shift\+up|shift\+down|pageup|pagedown|home|end|backspace|delete|ctrl\+[a-z])$/;

/** Reports whether a text is the name of a key: a character, a named key, or a letter with Ctrl. */
const isKeyName = (text: string): boolean =>
  NAMED_KEYS.test(text) || (splitGraphemes(text).length === 1 && !/[\s\p{C}]/u.test(text));

export function checkKeys(key: string, context: z.RefinementCtx): void {
  if (!isKeyName(key))
    context.addIssue({
      code: 'custom',
      message: 'expected a key: one character, a name such as enter, space, pageup, or ctrl+ and a letter',
    });
  else if (key === 'ctrl+c' || key === 'ctrl+l')
    context.addIssue({ code: 'custom', message: 'this key quits or redraws everywhere' });
}

const overlaps = <T>(one: readonly T[] | undefined, other: readonly T[] | undefined): boolean =>
  one === undefined || other === undefined || one.some((each) => other.includes(each));

/** Reports whether two bindings can be active at the same time. */
const canMeet = (one: KeyBinding, other: KeyBinding): boolean =>
  overlaps(one.panes, other.panes) &&
  overlaps(one.rows, other.rows) &&
  (one.view === undefined || other.view === undefined || one.view === other.view);

/** Finds keys that would do two things at the same time, or confirm by the key that asks. */
export function findClashes(
  own: Readonly<Record<string, readonly string[] | undefined>>,
): { id: string; message: string }[] {
  const keysOf = (binding: KeyBinding): readonly string[] => own[binding.id] ?? binding.keys;
  return KEYMAP.filter(({ id }) => own[id] !== undefined).flatMap((binding) => {
    const keys = keysOf(binding);
    const second = binding.confirm?.find((key) => keys.includes(key));
    if (second !== undefined)
      return [
        {
          id: binding.id,
          message: `${second} is the second key, which answers: choose a different first key`,
        },
      ];
    const other = KEYMAP.find(
      (each) => each !== binding && canMeet(each, binding) && keysOf(each).some((key) => keys.includes(key)),
    );
    if (other === undefined) return [];
    const key = keysOf(other).find((each) => keys.includes(each));
    return [{ id: binding.id, message: `${key} is already the key of ${other.id}` }];
  });
}
