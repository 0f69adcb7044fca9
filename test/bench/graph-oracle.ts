import { createRequire } from 'node:module';
import { join, relative } from 'node:path';

/** The part of the compiler's interface that finding calls needs; the version that the bench downloads has it. */
interface Compiler {
  createProgram(files: readonly string[], options: object): Program;
  forEachChild(node: TsNode, visit: (child: TsNode) => void): void;
  SyntaxKind: Record<string, number>;
  SymbolFlags: { Alias: number };
}

interface Program {
  getTypeChecker(): Checker;
  getSourceFile(path: string): TsNode | undefined;
}

interface Checker {
  getSymbolAtLocation(node: TsNode): TsSymbol | undefined;
  getAliasedSymbol(symbol: TsSymbol): TsSymbol;
  getResolvedSignature(node: TsNode): { declaration?: TsNode } | undefined;
}

interface TsSymbol {
  flags: number;
  declarations?: TsNode[];
}

interface TsNode {
  kind: number;
  parent: TsNode;
  name?: TsNode;
  expression?: TsNode;
  tag?: TsNode;
  tagName?: TsNode;
  initializer?: TsNode;
  modifiers?: readonly unknown[];
  fileName: string;
  getSourceFile(): TsNode;
  getText(): string;
}

export interface Truth {
  /** `caller file|caller name|file|name` of every call within the project. */
  calls: Set<string>;
  /** Calls that leave the project or have no name; not counted. */
  others: number;
}

/**
 * Asks the compiler for all calls.
 * @param compiler its folder
 * @param own targets of a package's imports of itself: without them the compiler cannot resolve what they import
 */
export function askCompiler(
  compiler: string,
  root: string,
  paths: readonly string[],
  own: Readonly<Record<string, string[]>> = {},
): Truth {
  const ts = createRequire(import.meta.url)(join(compiler, 'lib', 'typescript.js')) as Compiler;
  const { SyntaxKind: kinds } = ts;
  const isKind = (node: TsNode | undefined, ...names: string[]): boolean =>
    node !== undefined && names.some((name) => kinds[name] === node.kind);
  const program = ts.createProgram(
    paths.map((path) => join(root, path)),
    {
      noEmit: true,
      baseUrl: root,
      paths: own,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      target: 99,
      module: 99,
      moduleResolution: 100,
      customConditions: ['@zod/source'],
      jsx: 4,
      types: [],
      strict: true,
      lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    },
  );
  const checker = program.getTypeChecker();
  const calls = new Set<string>();
  let others = 0;

  const isFunction = (node: TsNode | undefined): boolean =>
    isKind(node, 'ArrowFunction', 'FunctionExpression', 'ClassExpression');

  /** Returns the name of a declaration; null for parameters, local variables and anonymous declarations. */
  function nameOf(node: TsNode): string | null {
    const text = (node.name?.getText() ?? '').replace(/^['"](.*)['"]$/, '$1');
    if (isKind(node, 'VariableDeclaration')) {
      const outer = node.parent.parent.parent;
      return isKind(outer, 'SourceFile', 'ModuleBlock') || isFunction(node.initializer) ? text : null;
    }
    // A constructor parameter with a modifier is a member of its class.
    if (isKind(node, 'Parameter') && node.modifiers !== undefined && isKind(node.parent, 'Constructor'))
      return text;
    if (isKind(node, 'Parameter', 'BindingElement', 'TypeParameter')) return null;
    if (isKind(node, 'Constructor')) return nameOf(node.parent);
    if (isKind(node, 'ArrowFunction', 'FunctionExpression', 'FunctionType', 'ParenthesizedType', 'UnionType'))
      return nameOf(node.parent);
    return text === '' ? (isKind(node, 'FunctionDeclaration', 'ClassDeclaration') ? 'default' : null) : text;
  }

  const NAMED = [
    'FunctionDeclaration',
    'MethodDeclaration',
    'ClassDeclaration',
    'GetAccessor',
    'SetAccessor',
    'ModuleDeclaration',
  ];

  function callerOf(node: TsNode): string {
    for (let at = node.parent; at !== undefined && !isKind(at, 'SourceFile'); at = at.parent) {
      if (isKind(at, 'Constructor')) return 'constructor';
      if (isKind(at, ...NAMED)) return nameOf(at) ?? '';
      if (isKind(at, 'ClassExpression')) return at.name?.getText() ?? nameOf(at.parent) ?? '';
      if (isKind(at, 'ArrowFunction', 'FunctionExpression')) {
        if (isKind(at.parent, 'VariableDeclaration', 'PropertyAssignment', 'PropertyDeclaration'))
          return nameOf(at.parent) ?? '';
      } else if (
        isKind(at, 'VariableDeclaration') &&
        isKind(at.parent.parent.parent, 'SourceFile', 'ModuleBlock')
      )
        return nameOf(at) ?? '';
    }
    return '';
  }

  const isInside = (node: TsNode): boolean => {
    const { fileName } = node.getSourceFile();
    return fileName.startsWith(`${root}/`) && !fileName.includes('/node_modules/');
  };

  function calleeOf(node: TsNode): TsNode | null {
    if (isKind(node, 'CallExpression'))
      return isKind(node.expression, 'ImportKeyword') ? null : node.expression!;
    if (isKind(node, 'NewExpression')) return node.expression!;
    if (isKind(node, 'TaggedTemplateExpression')) return node.tag!;
    if (isKind(node, 'JsxOpeningElement', 'JsxSelfClosingElement'))
      return /^[a-z]/.test(node.tagName!.getText()) ? null : node.tagName!;
    return null;
  }

  function declarationsOf(node: TsNode, callee: TsNode): TsNode[] {
    let target = callee;
    while (isKind(target, 'ParenthesizedExpression', 'NonNullExpression')) target = target.expression!;
    const named = isKind(target, 'PropertyAccessExpression') ? target.name! : target;
    let symbol = checker.getSymbolAtLocation(named);
    if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias)
      symbol = checker.getAliasedSymbol(symbol);
    const declared = symbol?.declarations ?? [];
    if (declared.some((each) => nameOf(each) !== null)) return declared;
    // A local name is called: use its original declaration.
    const signature = checker.getResolvedSignature(node)?.declaration;
    return signature === undefined ? [] : [signature];
  }

  for (const path of paths) {
    const file = program.getSourceFile(join(root, path));
    if (file === undefined) continue;
    const visit = (node: TsNode): void => {
      const callee = calleeOf(node);
      if (callee !== null) {
        const found = declarationsOf(node, callee).filter((each) => isInside(each) && nameOf(each) !== null);
        if (found.length === 0) others += 1;
        for (const each of found.slice(0, 1)) {
          const at = relative(root, each.getSourceFile().fileName);
          calls.add(`${path}|${callerOf(node)}|${at}|${nameOf(each)}`);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return { calls, others };
}
