/** A text that begins with a slash is a command of the program and no prompt. */
export const escapeSlashCommand = (prompt: string): string =>
  /^\s*\//.test(prompt) ? `Your task:\n\n${prompt}` : prompt;

/** The same, for a program that also puts in the file that an `@` names; a backslash before it keeps it a sign. */
export const escapeCommandAndFiles = (prompt: string): string =>
  escapeSlashCommand(prompt).replace(/(?<!\\)@(?=\S)/g, '\\@');
