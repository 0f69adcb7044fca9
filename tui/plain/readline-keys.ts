/** A key as node:readline reports it. */
export interface RawKey {
  name?: string;
  ctrl?: boolean;
  shift?: boolean;
  meta?: boolean;
  sequence?: string;
}

const NAMES: Readonly<Record<string, string>> = { return: 'enter', enter: 'enter', escape: 'esc' };
const NAMED = new Set([
  'up',
  'down',
  'left',
  'right',
  'pageup',
  'pagedown',
  'home',
  'end',
  'tab',
  'backspace',
  'delete',
  'space',
]);

/** Translates a key from readline into the keymap's spelling; empty for a key that the keymap does not have. */
export function nameReadlineKey(
  text: string | undefined,
  { name = '', ctrl, shift, meta }: RawKey,
): string[] {
  const known = NAMES[name];
  if (known !== undefined) return [known];
  if (shift && /^(?:tab|up|down)$/.test(name)) return [`shift+${name}`];
  if (NAMED.has(name)) return [name];
  if (ctrl) return name === '' ? [] : [`ctrl+${name}`];
  if (meta || text === undefined || /^[\u0000-\u001f\u007f]/.test(text)) return [];
  return [text];
}
