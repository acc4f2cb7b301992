import Foundation

// NSCoding is a protocol of classes there, so that the cast always succeeds: a warning.
func wrong(_ type: any NSCoding.Type) -> AnyClass? { type as? AnyClass }
