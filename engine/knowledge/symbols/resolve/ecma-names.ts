import type { ValueEvaluator } from './evaluation.ts';
import type { NameRules } from './language-rules.ts';
import type { GraphProject } from './project.ts';
import { OUTSIDE_VALUE } from './values.ts';

/** Creates name resolution of TypeScript and JavaScript: imports lead to modules, and undeclared names belong to the platform. */
export function createEcmaNames(project: GraphProject, evaluator: () => ValueEvaluator): NameRules {
  return {
    importValue(file, index, space) {
      const { from, name } = file.facts.imports[index]!;
      const target = project.resolveModule(file, from);
      if (typeof target === 'string') return OUTSIDE_VALUE;
      const module = target.file;
      if (name === '*') {
        project.use(module, '=');
        const whole = module.exports.get('=')?.at(-1);
        return whole === undefined
          ? { is: 'module', file: module }
          : evaluator().evaluate(module, module.facts.exports[whole]!.value);
      }
      const found = evaluator().findExport(module, name, space);
      if (found !== null) return found;
      // A name of what a CommonJS module exports as a whole.
      const whole = module.exports.get('=')?.at(-1);
      if (whole === undefined) return OUTSIDE_VALUE;
      const value = evaluator().evaluate(module, module.facts.exports[whole]!.value);
      return evaluator().findMember(value, name)?.value ?? OUTSIDE_VALUE;
    },
    freeName: () => OUTSIDE_VALUE,
  };
}
