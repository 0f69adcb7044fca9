import type { ProjectCompiler, TsDeclaration, TsNode, TsProgram } from './compiler.ts';

/** A named position of a text: an offset after or inside the name, and the name. */
export type NamedPlace = readonly [end: number, name: string];

/** Kind, line from 1, the enclosing code (null for top level), and the target. */
export type FoundReference = readonly [
  kind: 'call' | 'new' | 'jsx' | 'inherit' | 'value',
  line: number,
  from: NamedPlace | null,
  to: readonly (readonly [file: string, end: number, name: string])[],
];

/** The references and imports of a file; all paths absolute. */
export interface FileReferences {
  path: string;
  references: FoundReference[];
  imports: string[];
}

interface Site {
  kind: FoundReference[0];
  /** The name of the target. */
  name: TsNode;
  /** The whole call. */
  call: TsNode;
}

/** Maximum reported declarations of one symbol. */
const MOST_DECLARATIONS = 8;

/** Resolves the names of files with the compiler. */
export function createReferenceFinder(
  { kinds }: Pick<ProjectCompiler, 'kinds'>,
  isOwn: (path: string) => boolean,
) {
  const set = (...names: string[]): ReadonlySet<number | undefined> =>
    new Set(names.map((name) => kinds[name]));
  const is = {
    call: set('CallExpression'),
    make: set('NewExpression'),
    tagged: set('TaggedTemplateExpression'),
    element: set('JsxOpeningElement', 'JsxSelfClosingElement'),
    decorator: set('Decorator'),
    heritage: set('HeritageClause'),
    base: set('ExpressionWithTypeArguments'),
    identifier: set('Identifier'),
    member: set('PropertyAccessExpression'),
    wrapped: set('ParenthesizedExpression', 'NonNullExpression', 'ExpressionWithTypeArguments'),
    dynamic: set('ImportKeyword'),
    source: set('SourceFile'),
    top: set('SourceFile', 'ModuleBlock'),
    variable: set('VariableDeclaration'),
    function: set('ArrowFunction', 'FunctionExpression'),
    functionOrClass: set('ArrowFunction', 'FunctionExpression', 'ClassExpression'),
    computed: set('ComputedPropertyName'),
    classes: set('ClassDeclaration', 'ClassExpression'),
    classValue: set('ClassExpression'),
    holder: set('VariableDeclaration', 'PropertyAssignment', 'PropertyDeclaration'),
    constructor: set('Constructor'),
    unnamed: set('Parameter', 'BindingElement', 'TypeParameter'),
    typed: set('FunctionType', 'ParenthesizedType', 'UnionType'),
    standing: set('FunctionDeclaration', 'ClassDeclaration'),
    named: set(
      ...['FunctionDeclaration', 'MethodDeclaration', 'ClassDeclaration', 'GetAccessor', 'SetAccessor'],
      ...['ModuleDeclaration', 'InterfaceDeclaration'],
    ),
    import: set('ImportDeclaration', 'ExportDeclaration', 'ImportEqualsDeclaration'),
    text: set('StringLiteral', 'NoSubstitutionTemplateLiteral'),
    /** Parents of a name used as a value, where it is neither declared nor a type. */
    use: set(
      ...[
        'CallExpression',
        'NewExpression',
        'ArrayLiteralExpression',
        'PropertyAssignment',
        'ReturnStatement',
      ],
      ...['ShorthandPropertyAssignment', 'ConditionalExpression', 'BinaryExpression', 'VariableDeclaration'],
      ...['JsxExpression', 'ArrowFunction', 'PropertyDeclaration', 'SpreadElement', 'AsExpression'],
    ),
  };
  const isIn = (node: TsNode | undefined, some: ReadonlySet<number | undefined>): boolean =>
    node !== undefined && some.has(node.kind);

  /** Returns a name as written; computed names have none. */
  function findNamedPlace(name: TsNode | undefined): NamedPlace | null {
    if (name === undefined) return null;
    const text = name.text ?? (isIn(name, is.computed) ? readNodeText(name) : '');
    return text === '' ? null : [name.end, text];
  }

  function readNodeText({ pos, end, parent }: TsNode): string {
    let top = parent;
    while (top?.parent !== undefined) top = top.parent;
    return (top?.text ?? '').slice(pos, end).trim();
  }

  const isTopVariable = (node: TsNode): boolean => isIn(node.parent?.parent?.parent, is.top);

  /** Returns the name of a declaration; null for a parameter, a local variable and unnamed declarations. */
  function nameNode(node: TsNode | undefined): NamedPlace | null {
    if (node === undefined || isIn(node, is.unnamed) || isIn(node, is.source)) return null;
    if (isIn(node, is.variable))
      return isTopVariable(node) || isIn(node.initializer, is.functionOrClass)
        ? findNamedPlace(node.name)
        : null;
    if (isIn(node, is.constructor) || isIn(node, is.function) || isIn(node, is.typed))
      return nameNode(node.parent);
    const own = findNamedPlace(node.name);
    if (own !== null) return own;
    return isIn(node, is.standing) ? [node.end, 'default'] : null;
  }

  /** Returns the code that contains a position. */
  function ownerOf(node: TsNode): NamedPlace | null {
    for (let at = node.parent; at !== undefined && !isIn(at, is.source); at = at.parent) {
      if (isIn(at, is.decorator) && isIn(at.parent, is.classes)) {
        // It runs in the scope that contains the class.
        at = at.parent!;
        continue;
      }
      if (isIn(at, is.constructor)) return [at.end, 'constructor'];
      if (isIn(at, is.named)) return nameNode(at);
      if (isIn(at, is.classValue)) return findNamedPlace(at.name) ?? nameNode(at.parent) ?? [at.end, 'class'];
      if (isIn(at, is.function)) {
        if (isIn(at.parent, is.holder)) return findNamedPlace(at.parent?.name);
      } else if (isIn(at, is.variable) && isTopVariable(at)) return findNamedPlace(at.name);
    }
    return null;
  }

  function unwrap(node: TsNode | undefined): TsNode | undefined {
    let at = node;
    while (isIn(at, is.wrapped)) at = at?.expression;
    return at;
  }

  const nameIn = (node: TsNode | undefined): TsNode | undefined =>
    isIn(node, is.member) ? node?.name : node;

  function siteAt(node: TsNode): Site | null {
    const made = (kind: Site['kind'], callee: TsNode | undefined): Site | null => {
      const target = unwrap(callee);
      const name = nameIn(target);
      return name === undefined || isIn(target, is.dynamic) ? null : { kind, name, call: node };
    };
    if (isIn(node, is.call)) return made('call', node.expression);
    if (isIn(node, is.make)) return made('new', node.expression);
    if (isIn(node, is.tagged)) return made('call', node.tag);
    if (isIn(node, is.decorator))
      return isIn(node.expression, is.call) ? null : made('call', node.expression);
    if (isIn(node, is.element)) {
      const site = made('jsx', node.tagName);
      return site === null || /^[a-z]/.test(node.tagName?.text ?? 'A') ? null : site;
    }
    if (isIn(node, is.base) && isIn(node.parent, is.heritage)) return made('inherit', node.expression);
    if (isIn(node, is.identifier) || isIn(node, is.member)) {
      const around = node.parent;
      if (!isIn(around, is.use) || around?.name === node || unwrap(around?.expression) === node) return null;
      return made('value', node);
    }
    return null;
  }

  function toTargets(declared: readonly TsDeclaration[]): FoundReference[3] {
    const found: [string, number, string][] = [];
    for (const each of declared) {
      if (found.length === MOST_DECLARATIONS) break;
      if (!isOwn(each.file)) continue;
      const place = nameNode(each.node());
      if (place !== null) found.push([each.file, ...place]);
    }
    return found;
  }

  return function readFile(program: TsProgram, path: string): FileReferences | null {
    const source = program.source(path);
    if (source === undefined) return null;
    const sites: Site[] = [];
    const modules: TsNode[] = [];
    const visit = (node: TsNode): void => {
      const site = siteAt(node);
      if (site !== null) sites.push(site);
      if (isIn(node, is.import) || isIn(node, is.call))
        program.visitChildren(node, (child) => void (isIn(child, is.text) && modules.push(child)));
      program.visitChildren(node, visit);
    };
    visit(source);
    const lineAt = createLineFinder(source.text ?? '');
    const symbols = program.symbolsOf(sites.map(({ name }) => name));
    const references = sites.flatMap(({ kind, name, call }, at): FoundReference[] => {
      const symbol = symbols[at];
      let to = symbol === undefined ? [] : toTargets(program.declarationsOf(symbol));
      const isCall = kind === 'call' || kind === 'new' || kind === 'jsx';
      if (to.length === 0 && isCall && isLocal(program, symbol)) {
        // A local value is called: use its declaration elsewhere.
        const behind = program.signatureOf(call);
        if (behind !== undefined) to = toTargets([behind]);
      }
      return to.length === 0 ? [] : [[kind, lineAt(name.end - (name.text?.length ?? 0)), ownerOf(call), to]];
    });
    const imported = new Set(
      program
        .symbolsOf(modules)
        .flatMap((symbol) => (symbol === undefined ? [] : program.declarationsOf(symbol)))
        .map(({ file }) => file)
        .filter((file) => file !== path && isOwn(file)),
    );
    return { path, references, imports: [...imported] };
  };

  /** Reports whether a name is local to this project's file, such as a parameter. */
  function isLocal(
    program: TsProgram,
    symbol: Parameters<TsProgram['declarationsOf']>[0] | undefined,
  ): boolean {
    const declared = symbol === undefined ? [] : program.declarationsOf(symbol);
    return declared.length > 0 && declared.every(({ file }) => isOwn(file));
  }
}

/** Returns the line of an offset, from 1. */
function createLineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
