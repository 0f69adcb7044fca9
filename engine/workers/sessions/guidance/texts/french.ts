import { sentence } from '../../../../core/base/sentence.ts';
import type { GuidanceTexts } from '../rules.ts';

export const french: GuidanceTexts = {
  entry_chair: sentence`Tu décides et tu répartis le travail : confie aux workers ce qui prend du temps et garde ton contexte pour l’ensemble.`,
  clarify_before_spawn: sentence`Règle les questions ouvertes avec la personne avant de lancer un worker ; il ne peut pas demander ce que tu as omis.`,
  multiphase_tasks: sentence`Découpe un travail en plusieurs phases en tâches distinctes avec {task.add}, chacune avec des critères vérifiables.`,
  workers_no_fanout: sentence`Ne lance ni workers ni agents toi-même. Si la tâche est trop grande pour un seul, dis-le avec {ask}.`,
  search_before_create: sentence`Cherche le code existant avant d’en écrire, et utilise ce qui est là.`,
  lock_shared: sentence`Verrouille ce que d’autres partagent avec {lock.acquire} avant de le modifier, et libère-le avec {lock.release} quand tu as fini.`,
  bus_only: sentence`Parle aux autres sessions uniquement par {msg.send} et {ask}, jamais par des fichiers, des commentaires ou des messages de commit.`,
  disk_memory: sentence`Note avec {memory.remember} ce que la prochaine session doit savoir, pas dans ton contexte ; consulte {memory.recall} avant de décider.`,
  crush: sentence`Garde les longues sorties hors de ton contexte : fais-les passer dans le shell par \`svc context crush\`, qui laisse ce qui compte et dit comment obtenir le reste.`,
  externalize: sentence`Range avec {context.externalize} un long texte dont tu pourrais avoir encore besoin et ne garde que son id ; {context.retrieve} le rend, {context.search} en retrouve des parties.`,
  auto_gateway: sentence`Les sorties des outils peuvent te parvenir raccourcies : ce qu’omet une ligne avec [svc-crush: ou [svc-stored:, {context.retrieve} le rend avec son id ; ne relance pas la commande pour cela.`,
};
