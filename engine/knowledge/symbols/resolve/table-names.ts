import { posix } from 'node:path';
import type { ValueEvaluator } from './evaluation.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import type { FileView, GraphProject } from './project.ts';
import { OUTSIDE_VALUE, type ResolvedValue, UNKNOWN_VALUE } from './values.ts';

type Find = (name: string, space: NameSpace) => ResolvedValue | null;

const spaceOf = (find: Find): ResolvedValue => ({ is: 'space', find });

/** Creates name resolution of languages with packages, modules and namespaces. */
export function createTableNames(
  project: GraphProject,
  evaluator: () => ValueEvaluator,
): Partial<Record<string, NameRules>> {
  const outside: NameRules = { importValue: () => OUTSIDE_VALUE, freeName: () => OUTSIDE_VALUE };
  const exported = (file: FileView, name: string, space: NameSpace): ResolvedValue | null =>
    evaluator().findExport(file, name, space);

  const findInFiles = (files: readonly FileView[], name: string, space: NameSpace): ResolvedValue | null => {
    for (const file of files) {
      const found = exported(file, name, space);
      if (found !== null) return found;
    }
    return null;
  };

  /** Returns a package by its name; null if it has no file in the project. */
  function packageSpace(from: FileView, name: string): ResolvedValue | null {
    const files = project.filesOfPackage(from, name);
    return files.length === 0 ? null : spaceOf((wanted, space) => findInFiles(files, wanted, space));
  }

  const go: NameRules = {
    importValue(file, index) {
      const { from } = file.facts.imports[index]!;
      const folder = project.findGoPackage(file, from);
      return (folder === null ? null : packageSpace(file, folder)) ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      const own = project.filesOfPackage(file, file.facts.packageName ?? '');
      return findInFiles(own, name, space) ?? OUTSIDE_VALUE;
    },
  };

  /** Returns `a.b.C`, and a member of a class instead of a class of a package. */
  function findDotted(file: FileView, from: string, name: string, space: NameSpace): ResolvedValue | null {
    const direct = findInFiles(project.filesOfPackage(file, from), name, space);
    if (direct !== null || !from.includes('.')) return direct;
    const parts = from.split('.');
    const outer = findInFiles(
      project.filesOfPackage(file, parts.slice(0, -1).join('.')),
      parts.at(-1)!,
      'type',
    );
    return outer === null ? null : (evaluator().findMember(outer, name)?.value ?? null);
  }

  const java: NameRules = {
    importValue(file, index, space) {
      const { from, name } = file.facts.imports[index]!;
      return findDotted(file, from, name, space) ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      const own = findInFiles(project.filesOfPackage(file, file.facts.packageName ?? ''), name, space);
      if (own !== null) return own;
      for (const each of file.facts.imports) {
        const found = each.name === '*' ? findDotted(file, each.from, name, space) : null;
        if (found !== null) return found;
      }
      return OUTSIDE_VALUE;
    },
  };

  const csharp: NameRules = {
    importValue: java.importValue,
    freeName(file, name, space) {
      // The file's namespace, enclosing namespaces, and used namespaces.
      const parts = (file.facts.packageName ?? '').split('.');
      const around = parts.map((_, at) => parts.slice(0, parts.length - at).join('.'));
      const used = file.facts.imports.filter((each) => each.name === '*').map((each) => each.from);
      for (const each of [...around, '', ...used]) {
        const found = findInFiles(project.filesOfPackage(file, each), name, space);
        if (found !== null) return found;
      }
      return OUTSIDE_VALUE;
    },
  };

  /** Returns a name of a Python module: its declarations, its imports, and its submodules. */
  function findInModule(
    module: FileView,
    name: string,
    space: NameSpace,
    seen: ReadonlySet<number>,
  ): ResolvedValue | null {
    const own = exported(module, name, space);
    if (own !== null) return own;
    project.use(module, name);
    for (const [index, each] of module.facts.imports.entries()) {
      if (each.local === name) return evaluator().readImport(module, index, space);
      if (each.name !== '*' || each.local !== '' || seen.has(module.id)) continue;
      const starred = project.findPythonModule(module, each.from);
      if (starred === null || 'folder' in starred) continue;
      const found = findInModule(starred.file, name, space, new Set([...seen, module.id]));
      if (found !== null) return found;
    }
    if (posix.basename(module.path) !== '__init__.py') return null;
    return moduleSpace(project.findPythonModule(module, `.${name}`));
  }

  function moduleSpace(found: ReturnType<GraphProject['findPythonModule']>): ResolvedValue | null {
    if (found === null) return null;
    if ('file' in found) return spaceOf((name, space) => findInModule(found.file, name, space, new Set()));
    return spaceOf((name) => moduleSpace(project.findPythonModule(found.from, `${found.folder}/${name}`)));
  }

  const python: NameRules = {
    importValue(file, index, space) {
      const { from, name } = file.facts.imports[index]!;
      const module = project.findPythonModule(file, from);
      if (name === '*') return moduleSpace(module) ?? OUTSIDE_VALUE;
      const found =
        module !== null && 'file' in module
          ? findInModule(module.file, name, space, new Set([file.id]))
          : null;
      if (found !== null) return found;
      const below = from.endsWith('.') ? `${from}${name}` : `${from}.${name}`;
      return moduleSpace(project.findPythonModule(file, below)) ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      for (const each of file.facts.imports) {
        if (each.name !== '*' || each.local !== '') continue;
        const module = project.findPythonModule(file, each.from);
        const found =
          module !== null && 'file' in module
            ? findInModule(module.file, name, space, new Set([file.id]))
            : null;
        if (found !== null) return found;
      }
      return OUTSIDE_VALUE;
    },
  };

  /** Returns a Rust module: its declarations and re-exports, and submodules in separate files. */
  function rustModule(file: FileView): ResolvedValue {
    return spaceOf((name, space) => findInRust(file, name, space, 0));
  }

  function findInRust(file: FileView, name: string, space: NameSpace, depth: number): ResolvedValue | null {
    const child = project.findRustChild(file, name);
    if (child !== null) return rustModule(child);
    const own = exported(file, name, space);
    if (own !== null) return own;
    project.use(file, name);
    for (const [index, each] of file.facts.imports.entries())
      if (each.local === name) return evaluator().readImport(file, index, space);
    if (depth > 3) return null;
    for (const each of file.facts.imports) {
      if (each.name !== '*' || each.from === 'super' || each.from.startsWith('super::')) continue;
      const from = findRustPath(file, each.from);
      const found =
        from?.is === 'space'
          ? from.find(name, space)
          : from === null
            ? null
            : (evaluator().findMember(from, name)?.value ?? null);
      if (found !== null) return found;
    }
    return null;
  }

  function findRustPath(file: FileView, path: string): ResolvedValue | null {
    if (path === '') return spaceOf((name) => startOfPath(file, name));
    const [first = '', ...rest] = path.split('::');
    let at: ResolvedValue | null = startOfPath(file, first);
    for (const name of rest) {
      if (at === null || at.is === 'outside') return at;
      if (name === 'super' || name === 'self') return null;
      at = at.is === 'space' ? at.find(name, 'type') : (evaluator().findMember(at, name)?.value ?? null);
    }
    return at;
  }

  function startOfPath(file: FileView, name: string): ResolvedValue | null {
    if (name === 'self') return rustModule(file);
    if (name === 'crate' || name === 'super') {
      const found = name === 'crate' ? project.findRustCrate(file, null) : project.findRustParent(file);
      return found === null ? OUTSIDE_VALUE : rustModule(found);
    }
    const child = project.findRustChild(file, name);
    if (child !== null) return rustModule(child);
    const crate = project.findRustCrate(file, name);
    if (crate !== null) return rustModule(crate);
    const own = exported(file, name, 'type');
    return own ?? OUTSIDE_VALUE;
  }

  const rust: NameRules = {
    importValue(file, index, space) {
      const { from, name } = file.facts.imports[index]!;
      const module = findRustPath(file, from);
      if (module === null) return UNKNOWN_VALUE;
      const found =
        module.is === 'space' ? module.find(name, space) : evaluator().findMember(module, name)?.value;
      return found ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      if (['crate', 'super', 'self'].includes(name)) return startOfPath(file, name) ?? OUTSIDE_VALUE;
      for (const each of file.facts.imports) {
        const module = each.name === '*' ? findRustPath(file, each.from) : null;
        const found =
          module?.is === 'space'
            ? module.find(name, space)
            : module == null
              ? null
              : evaluator().findMember(module, name)?.value;
        if (found != null) return found;
      }
      return project.findRustCrate(file, name) === null
        ? OUTSIDE_VALUE
        : (startOfPath(file, name) ?? OUTSIDE_VALUE);
    },
    findInNamespace(file, index, name, space) {
      const child = project.findRustChild(file, file.facts.symbols[index]!.name);
      return child === null ? null : findInRust(child, name, space, 0);
    },
  };

  return { go, java, kotlin: java, csharp, python, rust, other: outside };
}
