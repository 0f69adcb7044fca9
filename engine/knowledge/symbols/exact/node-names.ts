import type { ProjectCompiler, TsNode } from './compiler.ts';

/** A named position of a text: an offset after or inside the name, and the name. */
export type NamedPlace = readonly [end: number, name: string];

/** Groups the kinds of nodes, whose numbers differ between versions of the compiler. */
export function groupKinds(kinds: ProjectCompiler['kinds']) {
  const set = (...names: string[]): ReadonlySet<number | undefined> =>
    new Set(names.map((name) => kinds[name]));
  return {
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
}

export type KindGroups = ReturnType<typeof groupKinds>;

export const isIn = (node: TsNode | undefined, some: ReadonlySet<number | undefined>): boolean =>
  node !== undefined && some.has(node.kind);

/** Names the declarations and the code around nodes. */
export function createNodeNames(is: KindGroups) {
  /** Returns a name as written; computed names have none. */
  function findNamedPlace(name: TsNode | undefined): NamedPlace | null {
    if (name === undefined) return null;
    const text = name.text ?? (isIn(name, is.computed) ? readNodeText(name) : '');
    return text === '' ? null : [name.end, text];
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

  return { nameNode, ownerOf };
}

function readNodeText({ pos, end, parent }: TsNode): string {
  let top = parent;
  while (top?.parent !== undefined) top = top.parent;
  return (top?.text ?? '').slice(pos, end).trim();
}
