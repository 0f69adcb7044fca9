// A JSON text is a TOML text too, but for the one character that only TOML wants escaped.
export const tomlText = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');

/** A value in one line, as the option of a command line takes it. */
export function tomlValue(value: unknown): string {
  if (typeof value === 'string') return tomlText(value);
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, each]) => `${keyOf(name)}=${tomlValue(each)}`);
    return `{${members.join(',')}}`;
  }
  return String(value);
}

const keyOf = (name: string): string => (/^[\w-]+$/.test(name) ? name : tomlText(name));
