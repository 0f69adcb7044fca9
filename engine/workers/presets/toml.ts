// A JSON text is a TOML text too, but for the one character that only TOML wants escaped.
export const tomlText = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');
