import { SvcError } from '../../../core/base/errors.ts';
import { formatCount } from '../../../core/base/text.ts';
import { IN_A_ROW, letOthersRun, listFiles, readBundleFile, type SkippedFile } from './bundle.ts';
import { ConceptFault, type OkfConcept, readConcept } from './concept.ts';
import { isReservedName, nameFile } from './folder-text.ts';

/** A concept with the path of its file. */
export interface FoundConcept extends OkfConcept {
  path: string;
}

const MOST_CHARACTERS = 64 * 1024 * 1024;
/** An import is one transaction that blocks the engine. */
const MOST_CONCEPTS = 20_000;

/** Reads all concepts of a folder, and lists the omissions. Throws `fields_invalid` for an oversized folder. */
export async function readBundle(
  folder: string,
): Promise<{ concepts: FoundConcept[]; skipped: SkippedFile[] }> {
  const { files, skipped } = await listFiles(folder);
  if (files.length > MOST_CONCEPTS)
    throw new SvcError(
      'fields_invalid',
      `${folder} has ${formatCount(files.length, 'file')}, but at most ${MOST_CONCEPTS} are read`,
      {
        hint: 'import its folders one by one',
      },
    );
  const concepts: FoundConcept[] = [];
  let characters = 0;
  for (const [at, path] of files.entries()) {
    if (isReservedName(path)) continue;
    if (at % IN_A_ROW === 0) await letOthersRun();
    try {
      const text = readBundleFile(folder, path);
      characters += text.length;
      if (characters > MOST_CHARACTERS)
        throw new SvcError('fields_invalid', `${folder} has more than 64 MiB of text`, {
          hint: 'import its folders one by one',
        });
      concepts.push({ ...readConcept(text, nameFile(path)), path });
    } catch (error) {
      if (!(error instanceof ConceptFault)) throw error;
      skipped.push({ path, reason: error.message });
    }
  }
  return { concepts, skipped };
}
