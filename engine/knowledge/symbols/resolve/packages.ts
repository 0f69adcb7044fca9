import { posix } from 'node:path';
import type { FileView, GraphProject } from './project.ts';

interface PackageFinderDeps {
  idOf(path: string): number | undefined;
  view(id: number): FileView | null;
  /** Records a dependency on a name of a path. */
  use(name: string): void;
  manifests: { list(): readonly string[]; read(path: string): string | null };
  hasFolder(folder: string): boolean;
}

type PackageFinder = Pick<
  GraphProject,
  'findGoPackage' | 'findPythonModule' | 'findRustChild' | 'findRustParent' | 'findRustCrate'
>;

/** Finds packages and modules of languages whose paths determine their location. */
export function createPackageFinder({
  idOf,
  view,
  use,
  manifests,
  hasFolder,
}: PackageFinderDeps): PackageFinder {
  let goModules: { list: readonly string[]; known: { name: string; folder: string }[] } | null = null;
  let crates: { list: readonly string[]; known: { name: string; folder: string }[] } | null = null;

  const fileAt = (path: string): FileView | null => {
    use(posix.basename(path).replace(/\.[^.]+$/, ''));
    const id = idOf(path);
    return id === undefined ? null : view(id);
  };

  /** Returns names in manifests of one kind, with their folders. */
  function readNames(file: string, pattern: RegExp): { name: string; folder: string }[] {
    return manifests
      .list()
      .filter((path) => posix.basename(path) === file)
      .flatMap((path) => {
        const name = pattern.exec(manifests.read(path) ?? '')?.[1];
        return name === undefined ? [] : [{ name, folder: posix.dirname(path) }];
      });
  }

  function listCrates(): { name: string; folder: string }[] {
    const list = manifests.list();
    if (crates?.list !== list)
      crates = { list, known: readNames('Cargo.toml', /^\s*\[package\][^[]*?^\s*name\s*=\s*"([^"]+)"/ms) };
    return crates.known;
  }

  const crateRoot = (folder: string): FileView | null =>
    fileAt(joinModulePath(folder, 'src/lib.rs')) ??
    fileAt(joinModulePath(folder, 'src/main.rs')) ??
    fileAt(joinModulePath(folder, 'lib.rs'));

  return {
    findPythonModule: createPythonFinder({ fileAt, use, hasFolder }),
    findGoPackage(_from, path) {
      const list = manifests.list();
      if (goModules?.list !== list) goModules = { list, known: readNames('go.mod', /^\s*module\s+(\S+)/m) };
      const [best] = goModules.known
        .filter(({ name }) => path === name || path.startsWith(`${name}/`))
        .sort((one, other) => other.name.length - one.name.length);
      return best === undefined ? null : joinModulePath(best.folder, path.slice(best.name.length + 1)) || '.';
    },
    findRustChild(from, name) {
      const base = posix.basename(from.path);
      const folder = posix.dirname(from.path);
      const isRoot = base === 'lib.rs' || base === 'main.rs' || base === 'mod.rs';
      const below = isRoot ? folder : joinModulePath(folder, base.replace(/\.rs$/, ''));
      const at = (place: string): FileView | null =>
        fileAt(joinModulePath(place, `${name}.rs`)) ?? fileAt(joinModulePath(place, name, 'mod.rs'));
      // Each file of these folders is a program, whose modules are next to it.
      const isProgram = !isRoot && /^(?:tests|examples|benches|bin)$/.test(posix.basename(folder));
      return at(below) ?? (isProgram ? at(folder) : null);
    },
    findRustParent(from) {
      const base = posix.basename(from.path);
      const folder = posix.dirname(from.path);
      const above = base === 'mod.rs' ? posix.dirname(folder) : folder;
      const files = [
        joinModulePath(above, 'mod.rs'),
        `${above}.rs`,
        joinModulePath(above, 'lib.rs'),
        joinModulePath(above, 'main.rs'),
      ];
      for (const each of files) {
        const found = fileAt(each);
        if (found !== null && found !== from) return found;
      }
      return null;
    },
    findRustCrate(from, name) {
      if (name !== null) {
        const known = listCrates().find((each) => each.name.replaceAll('-', '_') === name);
        return known === undefined ? null : crateRoot(known.folder);
      }
      for (let folder = posix.dirname(from.path); ; folder = posix.dirname(folder)) {
        const known = listCrates().find((each) => each.folder === folder);
        const root = known === undefined ? null : crateRoot(folder);
        if (root !== null) return root;
        if (folder === '.') return crateRoot('.');
      }
    },
  };
}

/** Creates the search for Python modules. */
function createPythonFinder({
  fileAt,
  use,
  hasFolder,
}: Pick<PackageFinderDeps, 'use' | 'hasFolder'> & {
  fileAt(path: string): FileView | null;
}): PackageFinder['findPythonModule'] {
  function findPython(name: string, from: FileView): ReturnType<GraphProject['findPythonModule']> {
    for (const part of name.split('/')) use(part);
    const file =
      fileAt(`${name}.py`) ??
      fileAt(`${name}.pyi`) ??
      fileAt(joinModulePath(name, '__init__.py')) ??
      fileAt(joinModulePath(name, '__init__.pyi'));
    if (file !== null) return { file };
    return hasFolder(name) ? { folder: name, from } : null;
  }

  function findPythonModule(from: FileView, name: string): ReturnType<GraphProject['findPythonModule']> {
    if (name.includes('/')) return findPython(name, from);
    const dots = /^\.*/.exec(name)![0].length;
    const rest = name.slice(dots).replaceAll('.', '/');
    const own = posix.dirname(from.path);
    if (dots > 0) {
      let folder = own;
      for (let up = 1; up < dots; up += 1) folder = posix.dirname(folder);
      const path = joinModulePath(folder, rest);
      return rest === '' ? findPython(folder, from) : findPython(path, from);
    }
    // From the file's folder upwards, as a program started there or above would find it.
    for (let folder = own; ; folder = posix.dirname(folder)) {
      for (const each of folder === '.' ? ['.', 'src', 'lib', 'python'] : [folder]) {
        const found = findPython(joinModulePath(each, rest), from);
        if (found !== null && !('file' in found && found.file === from)) return found;
      }
      if (folder === '.') return null;
    }
  }

  return findPythonModule;
}

const joinModulePath = (...parts: string[]): string => posix.join(...parts).replace(/^\.\//, '');
