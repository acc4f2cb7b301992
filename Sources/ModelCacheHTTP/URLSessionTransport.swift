import Foundation
import ModelCache
