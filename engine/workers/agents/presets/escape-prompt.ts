/** Escapes a prompt that starts with a slash, which the program would run as a command. */
export const escapeSlashCommand = (prompt: string): string =>
  /^\s*\//.test(prompt) ? `Your task:\n\n${prompt}` : prompt;

/** Like `escapeSlashCommand`, for a program that also inserts the file after an `@`; a backslash before it prevents that. */
export const escapeCommandAndFiles = (prompt: string): string =>
  escapeSlashCommand(prompt).replace(/(?<!\\)@(?=\S)/g, '\\@');
