import { createEcmaNames } from './ecma-names.ts';
import type { ValueEvaluator } from './evaluation.ts';
import type { NameRules } from './language-rules.ts';
import type { FileView, GraphProject } from './project.ts';
import { createTableNames } from './table-names.ts';

/** Creates the name resolution rules of a file's language. */
export function createNameRules(
  project: GraphProject,
  evaluator: () => ValueEvaluator,
): (file: FileView) => NameRules {
  const ecma = createEcmaNames(project, evaluator);
  const others = createTableNames(project, evaluator);
  return ({ language }) =>
    language === 'typescript' || language === 'tsx' || language === 'javascript'
      ? ecma
      : (others[language] ?? others.other!);
}
