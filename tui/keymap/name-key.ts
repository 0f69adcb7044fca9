import { nameCommand, type OperationMention } from '../../engine/core/base/sentence.ts';
import { KEYMAP, type KeyBinding } from './index.ts';

/** Returns the key for an operation that a sentence mentions, e.g. `r (run) on t-3`; the command if there is none. */
export function nameKey(mention: OperationMention, keymap: readonly KeyBinding[] = KEYMAP): string {
  const { operation, on, options } = mention;
  const binding = keymap.find((each) => [each.operation].flat().some((known) => known === operation));
  const isCovered = Object.keys(options).every((option) => binding?.covers?.includes(option));
  if (binding === undefined || !isCovered) return nameCommand(mention);
  const name = `${binding.keys[0]} (${binding.label})`;
  return on.length === 0 ? name : `${name} on ${on[0]}`;
}

/** Returns a key as the screen shows it, e.g. `C-d` for `ctrl+d`. */
export const formatKey = (key: string): string =>
  ({
    enter: 'Enter',
    esc: 'Esc',
    tab: 'Tab',
    'shift+tab': 'S-Tab',
    'shift+up': 'S-↑',
    'shift+down': 'S-↓',
    pageup: 'PgUp',
    pagedown: 'PgDn',
    up: '↑',
    down: '↓',
    left: '←',
    right: '→',
    home: 'Home',
    end: 'End',
    space: 'Space',
  })[key] ?? key.replace(/^ctrl\+(.)$/, (_, letter: string) => `C-${letter}`);
