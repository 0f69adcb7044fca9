import { posix } from 'node:path';
import type { ValueEvaluator } from './evaluation.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import { spaceOf } from './package-names.ts';
import type { FileView, GraphProject } from './project.ts';
import { OUTSIDE_VALUE, type ResolvedValue } from './values.ts';

/** Creates name resolution of Python. */
export function createPythonNames(project: GraphProject, evaluator: () => ValueEvaluator): NameRules {
  /** Returns a name of a Python module: its declarations, its imports, and its submodules. Each module is `seen` once. */
  function findInModule(
    module: FileView,
    name: string,
    space: NameSpace,
    seen: Set<number>,
  ): ResolvedValue | null {
    if (seen.has(module.id)) return null;
    seen.add(module.id);
    const own = evaluator().findExport(module, name, space);
    if (own !== null) return own;
    project.use(module, name);
    for (const [index, each] of module.facts.imports.entries()) {
      if (each.local === name) return evaluator().readImport(module, index, space);
      if (each.name !== '*' || each.local !== '') continue;
      const starred = project.findPythonModule(module, each.from);
      if (starred === null || 'folder' in starred) continue;
      const found = findInModule(starred.file, name, space, seen);
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

  return {
    importValue(file, index, space) {
      const { from, name } = file.facts.imports[index]!;
      const module = project.findPythonModule(file, from);
      if (name === '*') return moduleSpace(module) ?? OUTSIDE_VALUE;
      // `from . import a` in a package means its module: the package has `a` from this import.
      const isOther = module !== null && 'file' in module && module.file.id !== file.id;
      const found = isOther ? findInModule(module.file, name, space, new Set([file.id])) : null;
      if (found !== null) return found;
      const below = from.endsWith('.') ? `${from}${name}` : `${from}.${name}`;
      return moduleSpace(project.findPythonModule(file, below)) ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      const seen = new Set([file.id]);
      for (const each of file.facts.imports) {
        if (each.name !== '*' || each.local !== '') continue;
        const module = project.findPythonModule(file, each.from);
        const found =
          module !== null && 'file' in module ? findInModule(module.file, name, space, seen) : null;
        if (found !== null) return found;
      }
      return OUTSIDE_VALUE;
    },
  };
}
