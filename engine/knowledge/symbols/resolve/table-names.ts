import type { ValueEvaluator } from './evaluation.ts';
import type { NameRules } from './language-rules.ts';
import { createPackageNames } from './package-names.ts';
import type { GraphProject } from './project.ts';
import { createPythonNames } from './python-names.ts';
import { createRustNames } from './rust-names.ts';
import { OUTSIDE_VALUE } from './values.ts';

/** Creates name resolution of languages with packages, modules and namespaces. */
export function createTableNames(
  project: GraphProject,
  evaluator: () => ValueEvaluator,
): Partial<Record<string, NameRules>> {
  const { go, java, csharp } = createPackageNames(project, evaluator);
  return {
    go,
    java,
    kotlin: java,
    csharp,
    python: createPythonNames(project, evaluator),
    rust: createRustNames(project, evaluator),
    other: { importValue: () => OUTSIDE_VALUE, freeName: () => OUTSIDE_VALUE },
  };
}
