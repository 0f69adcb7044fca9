import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProjectCompiler, TsDeclaration, TsNode, TsProgram, TsSymbol } from './compiler.ts';

/** The interface of typescript up to version 6: a library. */
interface Library {
  createProgram(options: { rootNames: readonly string[]; options: Options }): {
    getTypeChecker(): Checker;
    getSourceFile(path: string): SourceFile | undefined;
  };
  readConfigFile(path: string, read: (path: string) => string | undefined): { config?: unknown };
  parseJsonConfigFileContent(
    json: unknown,
    host: unknown,
    folder: string,
    existing: undefined,
    path: string,
  ): { options: Options; fileNames: string[]; projectReferences?: readonly { path: string }[] };
  forEachChild(node: TsNode, visit: (child: TsNode) => void): void;
  sys: { readFile(path: string): string | undefined };
  SyntaxKind: Record<string, number>;
  SymbolFlags: { Alias: number };
}

type Options = Record<string, unknown>;
type SourceFile = TsNode & { fileName: string };

interface Checker {
  getSymbolAtLocation(node: TsNode): LibrarySymbol | undefined;
  getAliasedSymbol(symbol: LibrarySymbol): LibrarySymbol;
  getResolvedSignature(node: TsNode): { declaration?: TsNode } | undefined;
}

interface LibrarySymbol extends TsSymbol {
  declarations?: readonly TsNode[];
}

/** Options without a configuration. */
const USUAL: Options = { target: 99, module: 99, moduleResolution: 100, jsx: 1, strict: true };
/** Fixed options: nothing is emitted, and JavaScript files are read as well. */
const ALWAYS: Options = {
  noEmit: true,
  composite: false,
  incremental: false,
  declaration: false,
  declarationMap: false,
  emitDeclarationOnly: false,
  sourceMap: false,
  inlineSourceMap: false,
  skipLibCheck: true,
  skipDefaultLibCheck: true,
  allowJs: true,
  checkJs: false,
  maxNodeModuleJsDepth: 0,
  allowImportingTsExtensions: true,
  tsBuildInfoFile: undefined,
  plugins: undefined,
};

export function openLibrary(ts: Library, root: string): ProjectCompiler {
  const configs = new Map<string, Options | null>();

  function parse(path: string): { options: Options; fileNames: string[]; references: readonly string[] } {
    const { config } = ts.readConfigFile(path, ts.sys.readFile);
    const parsed = ts.parseJsonConfigFileContent(config ?? {}, ts.sys, dirname(path), undefined, path);
    const references = (parsed.projectReferences ?? []).map(({ path: at }) =>
      at.endsWith('.json') ? at : join(at, 'tsconfig.json'),
    );
    return { ...parsed, references };
  }

  /** Returns the options of a folder's configuration; if it only references others, those of the first with files. */
  function readOptions(path: string): Options {
    const own = parse(path);
    if (own.fileNames.length > 0 || own.references.length === 0) return own.options;
    const others = own.references.filter((each) => existsSync(each)).map(parse);
    return (others.find(({ fileNames }) => fileNames.length > 0) ?? own).options;
  }

  /** Returns the nearest configuration at or above a folder of the project; null for none. */
  function findConfig(folder: string): string | null {
    for (const name of ['tsconfig.json', 'jsconfig.json'])
      if (existsSync(join(folder, name))) return join(folder, name);
    return folder === root || folder === dirname(folder) ? null : findConfig(dirname(folder));
  }

  function optionsOf(config: string | null): Options {
    if (config === null) return { ...USUAL, ...ALWAYS };
    const known = configs.get(config) ?? readOptions(config);
    configs.set(config, known);
    return { ...known, ...ALWAYS };
  }

  function openProgram(files: readonly string[], options: Options): TsProgram {
    const program = ts.createProgram({ rootNames: files, options });
    const checker = program.getTypeChecker();
    const toDeclaration = (node: TsNode): TsDeclaration => {
      let top = node;
      while (top.parent !== undefined) top = top.parent;
      return { file: (top as SourceFile).fileName, node: () => node };
    };
    const symbolOf = (name: TsNode): TsSymbol | undefined => {
      const symbol = checker.getSymbolAtLocation(name);
      const isAlias = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      return isAlias ? checker.getAliasedSymbol(symbol) : symbol;
    };
    return {
      files: files.filter((path) => program.getSourceFile(path) !== undefined),
      source: (path) => program.getSourceFile(path),
      visitChildren: (node, visit) => ts.forEachChild(node, (child) => visit(child)),
      symbolsOf: (names) => names.map(symbolOf),
      declarationsOf: (symbol) => ((symbol as LibrarySymbol).declarations ?? []).map(toDeclaration),
      signatureOf(call) {
        const declared = checker.getResolvedSignature(call)?.declaration;
        return declared === undefined ? undefined : toDeclaration(declared);
      },
    };
  }

  return {
    kinds: ts.SyntaxKind,
    *programs(files) {
      const groups = Map.groupBy(files, (path) => findConfig(dirname(path)));
      for (const [config, group] of groups) yield openProgram(group, optionsOf(config));
    },
    close: () => undefined,
  };
}
