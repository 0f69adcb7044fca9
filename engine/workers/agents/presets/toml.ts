// A JSON text is also a TOML text, except for the one character that only TOML requires escaped.
export const formatTomlText = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');

/** Formats a value in one line, as a command line option takes it. */
export function formatTomlValue(value: unknown): string {
  if (typeof value === 'string') return formatTomlText(value);
  if (Array.isArray(value)) return `[${value.map(formatTomlValue).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, each]) => `${formatKey(name)}=${formatTomlValue(each)}`,
    );
    return `{${members.join(',')}}`;
  }
  return String(value);
}

const formatKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : formatTomlText(name));
