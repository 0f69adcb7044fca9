import type { ProjectCompiler, TsDeclaration, TsNode, TsProgram, TsSymbol } from './compiler.ts';

/** The interface of typescript from version 7 on: a separate program, called over a pipe. */
export interface NativeApi {
  API: new (options: {
    cwd: string;
  }) => {
    updateSnapshot(params: { openFiles: readonly string[] }): { getProjects(): readonly NativeProject[] };
    close(): void;
  };
  SymbolFlags: Record<string, number>;
}

interface NativeProject {
  program: { getSourceFile(path: string): NativeNode | undefined; getSourceFileNames(): readonly string[] };
  checker: {
    getSymbolAtLocation(nodes: readonly TsNode[]): (NativeSymbol | undefined)[];
    getAliasedSymbol(symbol: NativeSymbol): NativeSymbol;
    getResolvedSignature(node: TsNode): { declaration?: NativeHandle } | undefined;
  };
}

type NativeNode = TsNode & { forEachChild(visit: (child: TsNode) => void): void };

interface NativeHandle {
  path: string;
  resolve(): TsNode | undefined;
}

interface NativeSymbol extends TsSymbol {
  id: number;
  declarations: readonly NativeHandle[];
}

/** Names per request. */
const AT_ONCE = 2000;

export function openNative(
  { API, SymbolFlags }: NativeApi,
  kinds: Readonly<Record<string, number>>,
  root: string,
): ProjectCompiler {
  const api = new API({ cwd: root });
  const toDeclaration = ({ path, resolve }: NativeHandle, handle: NativeHandle): TsDeclaration => ({
    file: path,
    node: () => resolve.call(handle),
  });

  function openProject({ program, checker }: NativeProject, files: readonly string[]): TsProgram {
    const aliased = new Map<number, NativeSymbol>();
    const followAlias = (symbol: NativeSymbol | undefined): NativeSymbol | undefined => {
      if (symbol === undefined || (symbol.flags & SymbolFlags.Alias!) === 0) return symbol;
      const known = aliased.get(symbol.id) ?? checker.getAliasedSymbol(symbol);
      aliased.set(symbol.id, known);
      return known;
    };
    return {
      files,
      source: (path) => program.getSourceFile(path),
      visitChildren: (node, visit) => (node as NativeNode).forEachChild((child) => visit(child)),
      symbolsOf(names) {
        const found: (TsSymbol | undefined)[] = [];
        for (let at = 0; at < names.length; at += AT_ONCE)
          found.push(...checker.getSymbolAtLocation(names.slice(at, at + AT_ONCE)).map(followAlias));
        return found;
      },
      declarationsOf: (symbol) =>
        (symbol as NativeSymbol).declarations.map((each) => toDeclaration(each, each)),
      signatureOf(call) {
        const declared = checker.getResolvedSignature(call)?.declaration;
        return declared === undefined ? undefined : toDeclaration(declared, declared);
      },
    };
  }

  return {
    kinds,
    *programs(files) {
      const wanted = new Set(files);
      // A file belongs to the first program that contains it; it is found by its configuration.
      for (const project of api.updateSnapshot({ openFiles: files }).getProjects()) {
        const own = project.program.getSourceFileNames().filter((path) => wanted.delete(path));
        yield openProject(project, own);
      }
    },
    close: () => api.close(),
  };
}
