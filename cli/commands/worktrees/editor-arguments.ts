import { basename } from 'node:path';

/** How programs receive the line at which they open a file. */
const CONVENTIONS: readonly { programs: RegExp; format(file: string, line: number): string[] }[] = [
  {
    programs:
      /^(?:n?vim?|vim\.\w+|vimx|[gr]?view|nvim-qt|nano|pico|micro|kak|joe|jmacs|jed|mg|zile|ne|emacs|emacsclient|emacs-nox|gedit|kwrite|ex)$/,
    format: (file, line) => [`+${line}`, file],
  },
  {
    programs: /^(?:code|code-insiders|codium|vscodium|cursor|windsurf|positron)$/,
    format: (file, line) => ['--goto', `${file}:${line}`],
  },
  {
    programs: /^(?:hx|helix|subl|sublime_text|zed|zeditor|lapce|atom)$/,
    format: (file, line) => [`${file}:${line}`],
  },
  {
    programs: /^(?:idea|webstorm|pycharm|goland|clion|rubymine|phpstorm|rider|rustrover|mate|kate|pulsar)$/,
    format: (file, line) => ['--line', String(line), file],
  },
];

/** Returns the arguments with which an editor opens a file at a line; only the file for unknown editors. */
export function listEditorArguments(editor: string, file: string, line: number): string[] {
  // The variable may contain arguments, and the program's path may be quoted.
  const [program = ''] = /^"[^"]*"|^'[^']*'|^\S+/.exec(editor.trim()) ?? [];
  const name = basename(program.replace(/^["']|["']$/g, '')).replace(/\.(?:exe|cmd|sh)$/, '');
  return CONVENTIONS.find(({ programs }) => programs.test(name))?.format(file, line) ?? [file];
}
