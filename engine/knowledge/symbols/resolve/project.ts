import type { SourceLanguage } from '../../sources/index.ts';
import type { FileFacts, SymbolFact } from '../facts.ts';

/** A file with its facts, with members indexed by name. */
export interface FileView {
  id: number;
  path: string;
  language: SourceLanguage;
  facts: FileFacts;
  /** Members of each symbol by name, in order. */
  members: Map<number, Map<string, number[]>>;
  /** Methods declared outside of their type, by type and method name. */
  owned: Map<string, Map<string, number[]>>;
  /** Exports by name; a name may denote a value and a type. */
  exports: Map<string, number[]>;
}

/** The target of an import or a free name: a file, something external, or unknown. */
export type ModuleTarget = { file: FileView } | 'outside' | 'missing';

/** The project as resolution sees it. Every answer is recorded as a dependency of the asking file. */
export interface GraphProject {
  view(id: number): FileView | null;
  /** Returns the target file of an import. */
  resolveModule(from: FileView, specifier: string): ModuleTarget;
  /** Returns the files of a package or namespace that export a name, or all; by `packageName` and the language's rules. */
  filesOfPackage(from: FileView, name: string, exported: string | null): FileView[];
  /** Reports whether a file is in a package of that name. */
  isPackage(from: FileView, name: string): boolean;
  /** Reports whether a file is in a package of that name, or of one below it. */
  hasPackage(name: string): boolean;
  /** Returns the folder of a Go package by its import path; null for an external one. */
  findGoPackage(from: FileView, path: string): string | null;
  /** Returns a Python module, `.`, `.a` or `a.b`: its file, or a folder of modules without one. */
  findPythonModule(
    from: FileView,
    name: string,
  ): { file: FileView } | { folder: string; from: FileView } | null;
  /** Returns the Rust submodule `name` of a module in a separate file. */
  findRustChild(from: FileView, name: string): FileView | null;
  findRustParent(from: FileView): FileView | null;
  /** Returns the root of the crate of that name, null for the file's own. */
  findRustCrate(from: FileView, name: string | null): FileView | null;
  /** Returns the method for a member of an unknown value by name; null unless only one symbol of the project has that name. */
  findOnlyMethod(from: FileView, name: string): { file: number; index: number } | null;
  /** Returns the functions of that name that extend a type. */
  findExtensions(from: FileView, name: string): readonly { file: number; index: number }[];
  /** Records that the asking file depends on a name of a file. */
  use(file: FileView, name: string): void;
}

/** Languages whose methods are declared outside of their types. */
export const DECLARES_OUTSIDE: ReadonlySet<string> = new Set(['go', 'rust', 'swift']);

export const IS_ECMA: ReadonlySet<string> = new Set(['typescript', 'tsx', 'javascript']);

/** Indexes the facts of a file. */
export function createFileView(
  id: number,
  path: string,
  language: SourceLanguage,
  facts: FileFacts,
): FileView {
  const members = new Map<number, Map<string, number[]>>();
  for (const [index, { parent, name }] of facts.symbols.entries()) {
    if (parent < 0) continue;
    let named = members.get(parent);
    if (named === undefined) {
      named = new Map();
      members.set(parent, named);
    }
    const known = named.get(name);
    if (known === undefined) named.set(name, [index]);
    else known.push(index);
  }
  const owned = new Map<string, Map<string, number[]>>();
  for (const [index, { owner, name }] of facts.symbols.entries()) {
    if (owner === undefined) continue;
    const named = owned.get(owner) ?? new Map<string, number[]>();
    owned.set(owner, named.set(name, [...(named.get(name) ?? []), index]));
  }
  const exports = new Map<string, number[]>();
  for (const [index, { name }] of facts.exports.entries()) {
    const known = exports.get(name);
    if (known === undefined) exports.set(name, [index]);
    else known.push(index);
  }
  return { id, path, language, facts, members, owned, exports };
}

/** Returns the outermost enclosing symbol below the file: the name by which the file is known. */
export function findRoot({ facts }: FileView, index: number): SymbolFact {
  let at = index;
  for (;;) {
    const { parent } = facts.symbols[at]!;
    if (parent <= 0) return facts.symbols[at]!;
    at = parent;
  }
}

export const symbolAt = ({ facts }: FileView, index: number): SymbolFact => facts.symbols[index]!;
