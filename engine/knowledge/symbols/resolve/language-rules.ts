import type { FileView } from './project.ts';
import type { ResolvedValue } from './values.ts';

/** The namespace of a lookup: values or types. */
export type NameSpace = 'value' | 'type';

/** Names that a language finds without an import, and the targets of its imports. */
export interface NameRules {
  importValue(file: FileView, index: number, space: NameSpace): ResolvedValue;
  freeName(file: FileView, name: string, space: NameSpace): ResolvedValue;
  /** Returns a member of a namespace whose text is in another file. */
  findInNamespace?(file: FileView, index: number, name: string, space: NameSpace): ResolvedValue | null;
}
