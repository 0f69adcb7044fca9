import * as z from 'zod';
import { describePending } from './keys.ts';
import { configSchema } from './schema.ts';

/** Builds the JSON Schema of svc.yaml for editors. */
export function buildJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    override({ jsonSchema }) {
      const own = jsonSchema as Record<string, unknown>;
      if (typeof own.unset === 'string') own.description = `${own.description} Unset: ${own.unset}.`;
      if (typeof own.pending === 'string')
        own.description = `${own.description} ${describePending(own.pending)}`;
      if (own.example !== undefined) own.examples = [own.example];
      for (const name of ['notation', 'unset', 'nil', 'example', 'secret', 'consent', 'pending'])
        delete own[name];
      // The empty default of a section is irrelevant for its members.
      if (own.properties !== undefined) delete own.default;
      if (own.maximum === Number.MAX_SAFE_INTEGER) delete own.maximum;
    },
  });
  return {
    ...schema,
    title: 'svc.yaml',
    description: 'Configuration of svc, a local workshop for coding agents.',
  };
}
