import { type Mention, nameCommand } from '../../engine/index.ts';
import { KEYMAP } from './index.ts';

/** The key that does what a sentence mentions, e.g. `r (run) on t-3`; where there is none, the command. */
export function nameKey(mention: Mention): string {
  const { operation, on, options } = mention;
  const binding = KEYMAP.find((each) => each.operation === operation);
  if (binding === undefined || Object.keys(options).length > 0) return nameCommand(mention);
  const name = `${binding.keys[0]} (${binding.label})`;
  return on.length === 0 ? name : `${name} on ${on[0]}`;
}
