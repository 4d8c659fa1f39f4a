// kafkajs as a client under test.

import { serve } from '../serve.js'
import * as admin from './admin.js'
import { consume, pause, seek } from './consume.js'
import * as members from './members.js'
import { produce } from './produce.js'

await serve({ produce, consume, seek, pause, ...admin, ...members })
